import { fileURLToPath } from "node:url";
import { databaseErrorToAppError, openDatabase } from "@workflow/db";
import { createRevokedTokens, createRpcServer, createTokenVerifier } from "@workflow/rpc";
import type { RpcTls, IssuerKeys } from "@workflow/rpc";
import { createScope } from "@workflow/service";
import type { Logger } from "pino";

/** What the service needs from its surroundings. */
export interface WebhooksServiceOptions {
  databaseUrl: string;
  databasePoolSize: number;
  /** Where to listen: `host:port`, port 0 for a free one, or `unix:/path`. */
  grpcAddress: string;
  /** Whose tokens are accepted. */
  tokenPublicKeys: IssuerKeys;
  /** Whether reflection is served; by default only on loopback addresses and unix sockets. */
  grpcReflection?: boolean | undefined;
  grpcTls?: RpcTls | undefined;
  logger: Logger;
}

/** A service that accepts calls. */
export interface RunningService {
  /** The address it is really bound to. */
  grpcAddress: string;
  /** Finishes running calls and gives everything back. */
  stop(): Promise<void>;
}

const DATABASE_ROLE = "workflow_webhooks";
const PROTO_ROOT = fileURLToPath(new URL("../../../proto", import.meta.url));

/**
 * Starts the service, which answers health and reflection.
 *
 * @throws AppError UNAVAILABLE when the database cannot be reached, Error when the address is taken;
 * nothing stays open then
 */
export async function startWebhooksService(
  options: WebhooksServiceOptions,
): Promise<RunningService> {
  const { logger } = options;
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
    const server = createRpcServer({
      logger,
      verifier: createTokenVerifier({
        audience: "webhooks",
        publicKeys: options.tokenPublicKeys,
        revoked: createRevokedTokens(database, "webhooks"),
      }),
      toAppError: databaseErrorToAppError,
      tls: options.grpcTls,
      protoRoot: PROTO_ROOT,
      reflection: options.grpcReflection,
    });
    scope.defer(() => server.close());
    const bound = await server.listen(options.grpcAddress);
    server.setServing(true);
    return { grpcAddress: bound.address, stop: () => scope.close() };
  });
}
