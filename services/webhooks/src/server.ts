import { fileURLToPath } from "node:url";
import { databaseErrorToAppError } from "@workflow/db";
import { EndpointsServiceService } from "@workflow/proto/webhooks/v1/endpoints";
import { InboundEventsServiceService } from "@workflow/proto/webhooks/v1/events";
import { createRevokedTokens, createRpcServer, createTokenVerifier } from "@workflow/rpc";
import type { RpcServer } from "@workflow/rpc";
import { rpcRequestMetrics } from "@workflow/service";
import type { ServiceContext } from "./context.ts";
import type { WebhooksServiceOptions } from "./options.ts";
import { createEndpoint } from "./rpc/create-endpoint.ts";
import { deleteEndpoint } from "./rpc/delete-endpoint.ts";
import { getDelivery } from "./rpc/get-delivery.ts";
import { getEndpoint } from "./rpc/get-endpoint.ts";
import { listDeliveries } from "./rpc/list-deliveries.ts";
import { listEndpoints } from "./rpc/list-endpoints.ts";
import { listEventTypes } from "./rpc/list-event-types.ts";
import { recoverEndpoint } from "./rpc/recover-endpoint.ts";
import { retryDelivery } from "./rpc/retry-delivery.ts";
import { rotateSecret } from "./rpc/rotate-secret.ts";
import { testEndpoint } from "./rpc/test-endpoint.ts";
import { updateEndpoint } from "./rpc/update-endpoint.ts";
import { getInboundEvent } from "./rpc/get-inbound-event.ts";
import { listInboundEvents } from "./rpc/list-inbound-events.ts";
import { replayInboundEvent } from "./rpc/replay-inbound-event.ts";

type ServerOptions = Pick<
  WebhooksServiceOptions,
  "tokenPublicKeys" | "grpcTls" | "grpcReflection" | "logger" | "metricsRegistry" | "tracer"
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
    tracer: options.tracer,
    ...(metricsRegistry === undefined ? {} : { onRequest: rpcRequestMetrics(metricsRegistry) }),
  });
  server.add(EndpointsServiceService, {
    listEndpoints: listEndpoints(context),
    createEndpoint: createEndpoint(context),
    getEndpoint: getEndpoint(context),
    updateEndpoint: updateEndpoint(context),
    deleteEndpoint: deleteEndpoint(context),
    rotateSecret: rotateSecret(context),
    testEndpoint: testEndpoint(context),
    recoverEndpoint: recoverEndpoint(context),
    listDeliveries: listDeliveries(context),
    getDelivery: getDelivery(context),
    retryDelivery: retryDelivery(context),
    listEventTypes: listEventTypes(),
  });
  server.add(InboundEventsServiceService, {
    listInboundEvents: listInboundEvents(context),
    getInboundEvent: getInboundEvent(context),
    replayInboundEvent: replayInboundEvent(context),
  });
  return server;
}
