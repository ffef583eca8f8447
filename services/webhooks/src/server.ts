import { fileURLToPath } from "node:url";
import { databaseErrorToAppError } from "@workflow/db";
import { createRevokedTokens, createRpcServer, createTokenVerifier } from "@workflow/rpc";
import type { RpcServer } from "@workflow/rpc";
import { rpcRequestMetrics } from "@workflow/service";
import type { ServiceContext } from "./context.ts";
import type { WebhooksServiceOptions } from "./options.ts";

type ServerOptions = Pick<
  WebhooksServiceOptions,
  "tokenPublicKeys" | "grpcTls" | "grpcReflection" | "logger" | "metricsRegistry"
>;

const PROTO_ROOT = fileURLToPath(new URL("../../../proto", import.meta.url));

/** The gRPC server with every RPC of the service; it does not listen yet. */
export function createServer({ database }: ServiceContext, options: ServerOptions): RpcServer {
  const { metricsRegistry } = options;
  return createRpcServer({
    logger: options.logger,
    verifier: createTokenVerifier({
      audience: "webhooks",
      publicKeys: options.tokenPublicKeys,
      revoked: createRevokedTokens(database, "webhooks"),
    }),
    toAppError: databaseErrorToAppError,
    tls: options.grpcTls,
    protoRoot: PROTO_ROOT,
    reflection: options.grpcReflection,
    ...(metricsRegistry === undefined ? {} : { onRequest: rpcRequestMetrics(metricsRegistry) }),
  });
}
