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
      name: "sql-only-in-store",
      comment: "queries live in a service's store folder, beside their result schemas",
      severity: "error",
      from: { path: "^services/[^/]+/src/(rpc|domain|routes)/" },
      to: { path: "node_modules/(pg|slonik)/" },
    },
    {
      name: "domain-is-pure",
      severity: "error",
      from: { path: "^services/[^/]+/src/domain/" },
      to: {
        path: "(^packages/(db|rpc|service)/|^services/[^/]+/src/(rpc|store)/|@grpc/grpc-js|/pg/)",
      },
    },
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
      to: { path: "^(packages/(?!definition|errors)|services)/" },
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
