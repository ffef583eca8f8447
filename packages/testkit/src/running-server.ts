import type { PostgresServer } from "./postgres-server.ts";

declare global {
  /** Jest's setup and teardown share a process but not their modules, so this is where they meet. */
  var workflowTestPostgres: PostgresServer | undefined;
}

export function keepServer(server: PostgresServer): void {
  globalThis.workflowTestPostgres = server;
}

export function keptServer(): PostgresServer | undefined {
  return globalThis.workflowTestPostgres;
}
