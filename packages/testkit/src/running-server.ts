import type { PostgresServer } from "./postgres-server.ts";

declare global {
  /**
   * Jest's setup and teardown share a process but no modules. They meet in this global variable.
   */
  var workflowTestPostgres: PostgresServer | undefined;
}

export function keepServer(server: PostgresServer): void {
  globalThis.workflowTestPostgres = server;
}

export function keptServer(): PostgresServer | undefined {
  return globalThis.workflowTestPostgres;
}
