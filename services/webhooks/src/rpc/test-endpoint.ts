import { newId } from "@workflow/db";
import { EVENT_ID_PREFIX } from "@workflow/events";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type {
  TestEndpointRequest,
  TestEndpointResponse,
} from "@workflow/proto/webhooks/v1/endpoints";
import { rpc } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { DELIVERY_ID_PREFIX } from "../domain/endpoint.ts";
import { endpointEntry } from "../endpoints/endpoint-audit.ts";
import { getEndpointRow, requireEndpointKey } from "../endpoints/find-endpoint.ts";
import { openEndpoint } from "../endpoints/open-endpoint.ts";
import { TestPlaces } from "../endpoints/test-places.ts";
import { wrongField } from "../endpoints/wrong-field.ts";
import { EVENT_TYPES, findEventType } from "../event-types/event-types.ts";
import type { EventType } from "../event-types/event-type.ts";
import { attemptDelivery } from "../outbound/attempt.ts";
import type { AttemptOutcome } from "../outbound/attempt.ts";
import type { EndpointRow } from "../store/endpoints.ts";
import { insertTestDelivery } from "../store/test-deliveries.ts";

const DEFAULT_TYPE = "workflow.completed";

/**
 * Sends the example of an event type, signed like any delivery, and returns the receiver's answer. The
 * test is recorded when it has ended. It does not affect the endpoint's failures, and is never retried.
 */
export function testEndpoint(
  context: ServiceContext,
): UnaryMethod<TestEndpointRequest, TestEndpointResponse> {
  const places = new TestPlaces();
  return rpc({
    scopes: "workflows:write",
    async handler(request, call) {
      const type = parseType(request.eventType);
      const key = requireEndpointKey(request.endpointId, call);
      await getEndpointRow(context.database, key);
      return places.within(key.companyId, call.signal, async () => {
        // The endpoint is read again, since the test may have waited.
        const endpoint = await getEndpointRow(context.database, key);
        return sendTest(context, call, endpoint, type);
      });
    },
  });
}

async function sendTest(
  context: ServiceContext,
  call: RpcContext,
  endpoint: EndpointRow,
  type: EventType,
): Promise<TestEndpointResponse> {
  const { database, ring, http, audit } = context;
  const { id: endpointId, companyId, url } = endpoint;
  const secrets = await openEndpoint(ring, endpoint);
  const eventId = newId(EVENT_ID_PREFIX);
  const deliveryId = newId(DELIVERY_ID_PREFIX);
  const occurredAt = new Date();
  const body = JSON.stringify({
    ...type.example,
    id: eventId,
    timestamp: occurredAt.toISOString(),
    companyId,
    test: true,
  });
  const message = { eventId, body: Buffer.from(body) };
  const target = { ...secrets, companyId, traceparent: call.traceparent, url };
  const outcome = await attemptDelivery(http, target, message, call.signal);
  const isSuccess = outcome.error === null;
  await database.transaction(async (transaction) => {
    const key = { companyId, endpointId, deliveryId };
    await insertTestDelivery(transaction, {
      ...key,
      eventId,
      eventType: type.type,
      occurredAt,
      body,
      isSuccess,
      statusCode: outcome.statusCode,
      error: outcome.error,
      durationMs: outcome.durationMs,
      attemptsJson: attemptsJson(outcome, url),
    });
    const changes = {
      eventType: { from: null, to: type.type },
      deliveryId: { from: null, to: deliveryId },
    };
    const entry = endpointEntry("webhook_endpoint.tested", endpoint, changes);
    await audit.record(transaction, call, entry);
  });
  audit.wake();
  return toResponse(deliveryId, outcome);
}

function attemptsJson(outcome: AttemptOutcome, url: string): string {
  const { at, statusCode, durationMs, error, responseBody } = outcome;
  return JSON.stringify([{ number: 1, at, url, statusCode, durationMs, error, responseBody }]);
}

function toResponse(deliveryId: string, outcome: AttemptOutcome): TestEndpointResponse {
  const { statusCode, responseBody, durationMs, error } = outcome;
  return {
    success: error === null,
    statusCode: statusCode ?? undefined,
    responseBody: responseBody ?? undefined,
    durationMs,
    deliveryId,
    // The receiver's answer needs no further error.
    error: statusCode === null ? (error ?? undefined) : undefined,
  };
}

function parseType(name: string): EventType {
  const type = findEventType(name === "" ? DEFAULT_TYPE : name);
  if (type !== undefined) return type;
  const known = EVENT_TYPES.map((each) => each.type).join(", ");
  throw wrongField("eventType", `must be one of ${known}`);
}
