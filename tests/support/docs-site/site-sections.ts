/**
 * The navigation: what a group is called, and its files. A file of `docs/` that is in none of them comes at the end of
 * the group whose folder it lies in.
 */
export const SECTIONS = [
  {
    title: "Start",
    files: ["docs/README.md", "docs/quickstart.md", "docs/concepts.md"],
  },
  {
    title: "Examples",
    files: [
      "examples/order-intake/README.md",
      "examples/invoice-approval/README.md",
      "examples/nightly-report/README.md",
      "examples/stripe-to-crm/README.md",
      "examples/csv-import/README.md",
      "examples/gitops/README.md",
      "examples/ticket-triage/README.md",
      "examples/webhooks/README.md",
      "examples/python/README.md",
      "examples/grpc/README.md",
    ],
  },
  {
    title: "Workflows",
    folder: "docs/",
    files: [
      "docs/steps.md",
      "docs/runs.md",
      "docs/tables.md",
      "docs/secrets.md",
      "docs/blocks.md",
      "docs/connections.md",
      "docs/authorization.md",
      "docs/providers.md",
    ],
  },
  { title: "Agents", files: ["docs/agents.md", "docs/core-agents.md", "docs/mcp.md"] },
  { title: "Webhooks", files: ["docs/webhooks.md", "docs/verify-webhooks.md"] },
  {
    title: "The API",
    files: [
      "docs/clients.md",
      "docs/errors.md",
      "docs/limits.md",
      "docs/identity.md",
      "docs/audit.md",
    ],
  },
  {
    title: "Operations",
    folder: "docs/ops/",
    files: [
      "deploy/dev/README.md",
      "docs/ops/settings.md",
      "docs/ops/separate.md",
      "docs/ops/proxies.md",
      "docs/ops/upgrades.md",
      "docs/ops/worker-pools.md",
      "deploy/postgres/README.md",
      "deploy/nats/README.md",
      "deploy/docker/README.md",
      "deploy/kubernetes/README.md",
      "docs/ops/events.md",
      "docs/ops/webhooks.md",
      "docs/ops/metrics.md",
      "docs/ops/tracing.md",
      "deploy/observability/README.md",
      "docs/ops/retention.md",
      "docs/ops/secrets.md",
      "docs/ops/security.md",
    ],
  },
  {
    title: "Inside",
    files: ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions.md", "docs/adr/README.md"],
  },
] as const;
