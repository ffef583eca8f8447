/**
 * The folders of services/runs/src from the top down. Each may use those below it; rooms of one floor
 * do not know each other, but for `starting`, which the rpc room shares with them.
 */
const RUNS_FLOORS = [
  ["rpc"],
  ["schedules", "triggers"],
  ["operations"],
  ["engine", "effects"],
  ["starting", "concurrency"],
  ["deployments"],
  ["interpreter"],
  ["journal"],
  ["secrets", "memory"],
  ["task-runtime"],
  ["store"],
  ["domain"],
];

/** One rule a floor: none uses what is above it, or beside it. */
function runsLayers() {
  return RUNS_FLOORS.map((rooms, floor) => {
    const above = RUNS_FLOORS.slice(0, floor).flat();
    return rooms.map((room) => {
      const beside = rooms.filter((other) => other !== room);
      const forbidden = [...above, ...beside].join("|");
      return {
        name: `runs-${room}-looks-down`,
        comment: "folders of the runs service are layers; see ARCHITECTURE.md",
        severity: "error",
        from: { path: `^services/runs/src/${room}/` },
        // The files beside the folders wire them together and stand above them all.
        to: {
          path: `^services/runs/src/(${forbidden === "" ? "" : `(${forbidden})/|`}[^/]+\\.ts$)`,
          ...(room === "rpc" ? { pathNot: "^services/runs/src/context\\.ts$" } : {}),
        },
      };
    });
  }).flat();
}

/** The direction of the code: services → packages → proto/gen. Everything else is an error. */
export default {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "service-to-service",
      comment: "services meet only over gRPC",
      severity: "error",
      from: { path: "^services/([^/]+)/src" },
      to: { path: "^services/", pathNot: "^services/$1/" },
    },
    {
      name: "package-to-service",
      severity: "error",
      from: { path: "^packages/" },
      to: { path: "^(services|deploy|tests|bench|examples)/" },
    },
    {
      name: "proto-depends-on-nothing",
      severity: "error",
      from: { path: "^proto/" },
      to: { path: "^(packages|services|deploy)/" },
    },
    {
      name: "testkit-only-in-tests",
      severity: "error",
      from: { path: "^(services|packages)/[^/]+/src", pathNot: "^packages/testkit/" },
      to: { path: "^packages/testkit/" },
    },
    {
      name: "domain-is-pure",
      severity: "error",
      from: { path: "^services/[^/]+/src/domain/" },
      to: {
        path: "(^packages/(db|rpc|service)/|^services/[^/]+/src/(rpc|store)/|@grpc/grpc-js|/pg/)",
      },
    },
    ...runsLayers(),
    {
      name: "errors-depend-on-nothing",
      severity: "error",
      from: { path: "^packages/errors/src" },
      to: { pathNot: "^packages/errors/src" },
    },
    {
      name: "definition-is-pure",
      severity: "error",
      from: { path: "^packages/definition/src" },
      to: { path: "^(packages/(?!definition|errors|catalog)|services)/" },
    },
    {
      name: "client-depends-on-nothing",
      comment: "it is installed by others, in Node and in browsers",
      severity: "error",
      from: { path: "^packages/client/src" },
      to: { pathNot: "^packages/client/src" },
    },
    {
      name: "cli-knows-the-client-only",
      comment: "users run it far from the services",
      severity: "error",
      from: { path: "^packages/cli/src" },
      to: { path: "^(packages/(?!(cli|client)/)|services|deploy|proto)" },
    },
    {
      name: "client-is-for-those-outside",
      severity: "error",
      from: { path: "^(services|packages/(?!(client|cli)/)|deploy)" },
      to: { path: "^packages/client/" },
    },
    {
      name: "scrubber-knows-no-service",
      severity: "error",
      from: { path: "^packages/scrubber/src" },
      to: { path: "^(packages/(?!scrubber|definition)|services)/" },
    },
    {
      name: "tracing-knows-no-service",
      severity: "error",
      from: { path: "^packages/tracing/src" },
      to: { path: "^(packages/(?!tracing/)|services|deploy|proto)" },
    },
    {
      name: "catalog-is-pure",
      comment:
        "manifests are data, and what reads them computes: zod, hashes and host names are all it needs",
      severity: "error",
      from: { path: "^packages/catalog/src" },
      to: { pathNot: "^(packages/catalog/src/|node_modules/zod/|(crypto|url)$)" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)node_modules/(?!@workflow)" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node"],
      extensions: [".ts", ".js"],
    },
  },
};
