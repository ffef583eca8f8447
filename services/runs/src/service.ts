import { createScope } from "@workflow/async";
import type { RunsServiceOptions } from "./options.ts";
import { openParts } from "./parts.ts";
import { startApi } from "./start-api.ts";
import { startWorker } from "./start-worker.ts";

/** A running service. */
export interface RunningService {
  /** The address the API is bound to; absent in a process with the role `worker`. */
  grpcAddress?: string;
  /** Finishes what is under way and releases everything. */
  stop(): Promise<void>;
}

/** Starts the execution plane. If a part of it cannot start, it rejects and leaves nothing behind. */
export async function startRunsService(options: RunsServiceOptions): Promise<RunningService> {
  const scope = createScope();
  return scope.guard(async () => {
    const parts = await openParts(options, scope);
    if (options.role !== "api") await startWorker(options, parts, scope);
    const grpcAddress =
      options.role === "worker" ? undefined : await startApi(options, parts, scope);
    return {
      ...(grpcAddress === undefined ? {} : { grpcAddress }),
      stop: () => scope.close(),
    };
  });
}

export { connectPeers } from "./connect-peers.ts";
export { createEmailClient } from "./effects/email-client.ts";
export type { EmailClient } from "./interpreter/effects/email-client.ts";
export { createProviderClient } from "./effects/provider-client.ts";
export { createSecretsClient } from "./secrets/resolve-secrets.ts";
export type { SecretsClient } from "./secrets/resolve-secrets.ts";
export { createTablesClient } from "./effects/tables-client.ts";
export type { TablesClient } from "./interpreter/effects/tables-client.ts";
export { EVENT_CONSUMERS } from "./triggers/table-events.ts";
export type { RunsRole, RunsServiceOptions } from "./options.ts";
