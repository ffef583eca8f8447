import { listen } from "@workflow/db";
import type { Scope } from "@workflow/service";
import type { Logger } from "pino";
import { CONNECTIONS_CHANNEL, createConnectionAccess } from "./access.ts";
import type { ConnectionAccessCache } from "./access.ts";
import type { RenewContext } from "./renew-access.ts";

/** The cache of connections, which hears of changes that other replicas make. */
export async function startConnectionAccess(
  context: RenewContext,
  { databaseUrl, role, logger }: { databaseUrl: string; role: string; logger: Logger },
  scope: Scope,
): Promise<ConnectionAccessCache> {
  const access = createConnectionAccess(context);
  const listener = await listen({
    connectionUri: databaseUrl,
    role,
    channels: [CONNECTIONS_CHANNEL],
    onNotification: (_channel, connectionId) => access.forget(connectionId),
    // What was said meanwhile was missed.
    onReconnect: () => access.forget(),
    // Without it a change is noticed when what is remembered of it is too old, within 5 s.
    onError: (error) =>
      logger.warn({ err: error }, "notifications about changes of connections are interrupted"),
  });
  scope.defer(() => listener.stop());
  return access;
}
