/**
 * End-to-end files that CI runs against separate processes at each change: one for each path between two
 * parts. Together they take less than four minutes.
 */
export const SHORT: readonly string[] = [
  "empty-workflow",
  "start-run",
  "schedules",
  "table-workflows",
  "secrets",
  "sessions",
  "webhook-endpoint-deliveries",
  "run-modes",
];
