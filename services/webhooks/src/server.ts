import { fileURLToPath } from "node:url";
import { databaseErrorToAppError } from "@workflow/db";
import { InboundEventsServiceService } from "@workflow/proto/webhooks/v1/events";
import { createRevokedTokens, createRpcServer, createTokenVerifier } from "@workflow/rpc";
import type { RpcServer } from "@workflow/rpc";
import { rpcRequestMetrics } from "@workflow/service";
import type { ServiceContext } from "./context.ts";
import type { WebhooksServiceOptions } from "./options.ts";
import { getInboundEvent } from "./rpc/get-inbound-event.ts";
import { listInboundEvents } from "./rpc/list-inbound-events.ts";
import { replayInboundEvent } from "./rpc/replay-inbound-event.ts";

type ServerOptions = Pick<
  WebhooksServiceOptions,
  "tokenPublicKeys" | "grpcTls" | "grpcReflection" | "logger" | "metricsRegistry"
>;

const PROTO_ROOT = fileURLToPath(new URL("../../../proto", import.meta.url));

/** The gRPC server with every RPC of the service; it does not listen yet. */
export function createServer(context: ServiceContext, options: ServerOptions): RpcServer {
  const { metricsRegistry } = options;
  const server = createRpcServer({
    logger: options.logger,
    verifier: createTokenVerifier({
      audience: "webhooks",
      publicKeys: options.tokenPublicKeys,
      revoked: createRevokedTokens(context.database, "webhooks"),
    }),
    toAppError: databaseErrorToAppError,
    tls: options.grpcTls,
    protoRoot: PROTO_ROOT,
    reflection: options.grpcReflection,
    ...(metricsRegistry === undefined ? {} : { onRequest: rpcRequestMetrics(metricsRegistry) }),
  });
  server.add(InboundEventsServiceService, {
    listInboundEvents: listInboundEvents(context),
    getInboundEvent: getInboundEvent(context),
    replayInboundEvent: replayInboundEvent(context),
  });
  return server;
}
