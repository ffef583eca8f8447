import { createScope } from "@workflow/async";
import { createAuditTrail } from "@workflow/audit";
import { createCursorCodec, openDatabase } from "@workflow/db";
import { createSafeHttpClient } from "@workflow/http-client";
import { openKeyRing } from "@workflow/sealing";
import { CompanyWrites, watchPool } from "@workflow/service";
import { startInbound } from "./inbound/start-inbound.ts";
import type { RunningService, WebhooksServiceOptions } from "./options.ts";
import { startOutbound } from "./outbound/start-outbound.ts";
import { createServer } from "./server.ts";
import { getCursorKey } from "./store/cursor-key.ts";

const DATABASE_ROLE = "workflow_webhooks";

/**
 * Starts the service. A failed start leaves nothing open.
 *
 * @throws AppError UNAVAILABLE when the database cannot be reached
 * @throws ConfigError when SECRETS_KEK lacks a key that stored secrets need
 * @throws Error when an address is taken
 */
export async function startWebhooksService(
  options: WebhooksServiceOptions,
): Promise<RunningService> {
  const { logger, bus, metricsRegistry } = options;
  const scope = createScope();
  return scope.guard(async () => {
    const database = await openDatabase({
      connectionUri: options.databaseUrl,
      role: DATABASE_ROLE,
      maxConnections: options.databasePoolSize,
      applicationName: "workflow-webhooks",
      onError: (error) => logger.warn({ err: error }, "an idle database connection broke"),
    });
    scope.defer(() => database.end());
    scope.defer(watchPool(options.metricsRegistry, "webhooks", database));
    const ring = await openKeyRing(database, "webhooks", options.loadKeks);
    const cursors = createCursorCodec(await getCursorKey(database));
    const audit = createAuditTrail({ database, schema: "webhooks", bus, logger, metricsRegistry });
    scope.defer(() => audit.stop());
    const http = createSafeHttpClient({
      allowPrivate: options.outboundAllowPrivate ?? false,
      dnsServers: options.outboundDnsServers,
      nat64Prefixes: options.outboundNat64Prefixes,
      tracer: options.tracer,
    });
    scope.defer(() => http.close());
    const writes = new CompanyWrites(database, options.databasePoolSize);
    const parts = { database, ring, writes, http, cursors, audit, logger };
    await startOutbound(options, parts, scope);
    const inbound = await startInbound(options, database, scope);
    const context = { ...parts, inbound };
    const server = createServer(context, options);
    scope.defer(() => server.close());
    const bound = await server.listen(options.grpcAddress);
    server.setServing(true);
    const { httpAddress } = inbound;
    return { grpcAddress: bound.address, httpAddress, stop: () => scope.close() };
  });
}

export { EVENT_CONSUMERS } from "./outbound/start-outbound.ts";
export type { RunningService, WebhooksServiceOptions } from "./options.ts";
