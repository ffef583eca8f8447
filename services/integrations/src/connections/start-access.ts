import type { Scope } from "@workflow/async";
import { listen } from "@workflow/db";
import type { Logger } from "pino";
import { CONNECTIONS_CHANNEL, createConnectionAccess } from "./access.ts";
import type { ConnectionAccessCache } from "./access.ts";
import type { RenewContext } from "./renew-access.ts";

/** Starts the cache of connections, which other replicas notify of changes. */
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
    // Notifications sent while the connection was down are lost.
    onReconnect: () => access.forget(),
    // Without notifications a change takes effect when the cached entry expires, within 5 s.
    onError: (error) => logger.warn({ err: error }, "could not listen for changes of connections"),
  });
  scope.defer(() => listener.stop());
  return access;
}
