/**
 * The folders of each service's `src` from the top down. Each may use those below it; rooms of one floor do
 * not know each other. So no two folders import each other.
 */
const FLOORS = {
  gateway: [
    ["mcp"],
    ["routes", "admin", "docs", "connect-page", "openapi", "inbound"],
    ["http"],
    ["identity"],
    ["rate-limits"],
    ["auth"],
    ["audit"],
    ["store"],
    ["domain", "errors"],
  ],
  workflows: [["rpc"], ["deployment"], ["validation"], ["store"], ["dashboards"], ["domain"]],
  runs: [
    ["rpc"],
    ["schedules", "triggers", "metrics"],
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
  ],
  tables: [
    ["rpc"],
    ["writes", "export", "import"],
    ["threads"],
    ["snapshots"],
    ["memory"],
    ["engine", "store"],
    ["domain"],
  ],
  integrations: [
    ["rpc", "events"],
    ["email", "agents"],
    ["actions"],
    ["authorization"],
    ["connections"],
    ["store"],
    ["encryption"],
    ["provider-http", "files"],
    ["domain"],
  ],
  webhooks: [
    ["rpc", "admin"],
    ["inbound", "endpoints"],
    ["outbound"],
    ["event-types"],
    ["store"],
    ["secrets"],
    ["domain"],
  ],
};

/**
 * Files beside the folders wire them together and stand above them all. These are the exceptions: what the
 * rooms of a service have in common, by service and room (a pattern).
 */
const SHARED_FILES = {
  gateway: { ".*": "(route|route-context|route-declaration|route-table-entry|reply)" },
  workflows: { rpc: "context" },
  runs: { rpc: "context" },
  tables: { rpc: "context", "rpc|snapshots|threads|writes": "company-connections" },
  integrations: { rpc: "context", agents: "settings" },
  webhooks: { rpc: "context", "inbound|outbound": "(options|service-identity)" },
};

/** One rule a room: it uses nothing that is above it, or beside it. */
function layers() {
  return Object.entries(FLOORS).flatMap(([service, floors]) =>
    floors.flatMap((rooms, floor) =>
      rooms.map((room) => roomRule(service, room, [...floors.slice(0, floor).flat(), ...rooms])),
    ),
  );
}

function roomRule(service, room, known) {
  const source = `^services/${service}/src`;
  const forbidden = known.filter((other) => other !== room);
  const rooms = forbidden.length === 0 ? "" : `(${forbidden.join("|")})/|`;
  const shared = Object.entries(SHARED_FILES[service])
    .filter(([pattern]) => new RegExp(`^(${pattern})$`).test(room))
    .map(([, file]) => `${source}/${file}\\.ts$`);
  return {
    name: `${service}-${room}-looks-down`,
    comment: "folders of a service are layers; see FLOORS",
    severity: "error",
    from: { path: `${source}/${room}/` },
    to: { path: `${source}/(${rooms}[^/]+\\.ts$)`, pathNot: shared },
  };
}

/** A folder that no floor names would obey no rule. */
function unknownRooms() {
  return Object.entries(FLOORS).map(([service, floors]) => ({
    name: `${service}-has-known-folders`,
    comment: "give each new folder of a service its floor in FLOORS",
    severity: "error",
    from: { path: `^services/${service}/src/(?!(${floors.flat().join("|")})/)[^/]+/` },
    to: {},
  }));
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
      name: "frame-of-processes-is-on-top",
      comment:
        "it knows events, rpc and db; no package knows it, so that none go round in a circle",
      severity: "error",
      from: { path: "^packages/[^/]+/src" },
      to: { path: "^packages/service/src/run-service\\.ts$" },
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
    ...layers(),
    ...unknownRooms(),
    {
      name: "engine-is-pure",
      comment: "what runs in worker threads computes: no I/O, no database, no gRPC",
      severity: "error",
      from: { path: "^services/tables/src/engine/" },
      to: {
        pathNot: "^services/tables/src/(engine|domain)/|^packages/(definition|json)/",
      },
    },
    {
      name: "errors-depend-on-nothing",
      severity: "error",
      from: { path: "^packages/errors/src" },
      to: { pathNot: "^packages/errors/src" },
    },
    {
      name: "audit-stands-on-events",
      comment: "an audit entry is an event; the bus and the outbox do not know what they carry",
      severity: "error",
      from: { path: "^packages/audit/src" },
      to: { path: "^(packages/(?!(audit|db|events)/)|services/|deploy/|proto/)" },
    },
    {
      name: "events-know-no-audit",
      severity: "error",
      from: { path: "^packages/events/src" },
      to: { path: "^packages/audit/" },
    },
    {
      name: "json-is-pure",
      comment: "every package may use it, so it uses nothing: no package, no library, no I/O",
      severity: "error",
      from: { path: "^packages/json/src" },
      to: { pathNot: "^packages/json/src" },
    },
    {
      name: "async-is-pure",
      comment: "every package and service may use it, so it uses nothing but Node",
      severity: "error",
      from: { path: "^packages/async/src" },
      to: { pathNot: "^packages/async/src|^(node:)?timers/promises$" },
    },
    {
      name: "definition-is-pure",
      severity: "error",
      from: { path: "^packages/definition/src" },
      to: { path: "^(packages/(?!(definition|errors|catalog|json)/)|services/)" },
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
      to: { path: "^(packages/(?!(scrubber|definition)/)|services/)" },
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
        "manifests are data, and what reads them computes: zod, hashes, host names and JSON are all it needs",
      severity: "error",
      from: { path: "^packages/catalog/src" },
      to: { pathNot: "^(packages/(catalog|json)/src/|node_modules/zod/|(crypto|url)$)" },
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
