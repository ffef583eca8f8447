import { fileURLToPath } from "node:url";
import { databaseErrorToAppError, openDatabase } from "@workflow/db";
import { createAuditTrail, createOutboxRelay } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { createRpcServer, createTokenVerifier } from "@workflow/rpc";
import type { RpcServer, RpcTls, VerificationKey } from "@workflow/rpc";
import { createScope, rpcRequestMetrics } from "@workflow/service";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { ServiceContext } from "./context.ts";

/** What the service needs from its surroundings. */
export interface TablesServiceOptions {
  databaseUrl: string;
  databasePoolSize: number;
  /** Where its events go to. */
  bus: EventBus;
  /** Memory for columns that it keeps, default 256 MiB. */
  cacheBytesMax?: number;
  /** Where to listen: `host:port`, port 0 for a free one, or `unix:/path`. */
  grpcAddress: string;
  /** Whose tokens callers may show. */
  tokenPublicKeys: readonly VerificationKey[];
  grpcTls?: RpcTls | undefined;
  logger: Logger;
  /** Where request metrics are registered; without one none are taken. */
  metricsRegistry?: Registry | undefined;
}

/** A service that accepts calls. */
export interface RunningService {
  /** The address it is really bound to. */
  grpcAddress: string;
  /** Finishes running calls and gives everything back. */
  stop(): Promise<void>;
}

const DATABASE_ROLE = "workflow_tables";
const PROTO_ROOT = fileURLToPath(new URL("../../../proto", import.meta.url));

/**
 * Starts the service.
 *
 * @throws AppError UNAVAILABLE when the database cannot be reached, Error when the address is taken;
 * nothing stays open then
 */
export async function startTablesService(options: TablesServiceOptions): Promise<RunningService> {
  const { bus, logger } = options;
  const scope = createScope();
  return scope.guard(async () => {
    const database = await openDatabase({
      connectionUri: options.databaseUrl,
      role: DATABASE_ROLE,
      maxConnections: options.databasePoolSize,
      applicationName: "workflow-tables",
      onError: (error) => logger.warn({ err: error }, "an idle database connection broke"),
    });
    scope.defer(() => database.end());
    const outbox = { database, schema: "tables", bus, logger };
    const audit = createAuditTrail(outbox);
    scope.defer(() => audit.stop());
    const rowEvents = createOutboxRelay({ ...outbox, stream: "tables" });
    scope.defer(() => rowEvents.stop());
    const server = createServer({ database, audit, rowEvents, logger }, options);
    scope.defer(() => server.close());
    const bound = await server.listen(options.grpcAddress);
    server.setServing(true);
    return { grpcAddress: bound.address, stop: () => scope.close() };
  });
}

function createServer(_context: ServiceContext, options: TablesServiceOptions): RpcServer {
  const { metricsRegistry } = options;
  const server = createRpcServer({
    logger: options.logger,
    verifier: createTokenVerifier({ publicKeys: options.tokenPublicKeys }),
    toAppError: databaseErrorToAppError,
    tls: options.grpcTls,
    protoRoot: PROTO_ROOT,
    ...(metricsRegistry === undefined ? {} : { onRequest: rpcRequestMetrics(metricsRegistry) }),
  });
  return server;
}
