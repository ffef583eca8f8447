import { createHash } from "node:crypto";
import { PROVIDERS } from "@workflow/catalog";
import type { ProviderManifest } from "@workflow/catalog";
import { AppError, isAppError } from "@workflow/errors";
import type { FoundConnection } from "@workflow/proto/integrations/v1/accounts";
import { z } from "zod";
import { webhooksWith } from "../../service-identity.ts";
import { brokerAccount } from "../broker-account.ts";
import { listSecrets } from "../inbound-context.ts";
import type { InboundContext } from "../inbound-context.ts";
import type { Accepted, InboundMessage } from "../../domain/inbound-message.ts";
import type { InboundRequest, InboundRoute } from "../inbound-request.ts";
import { toInputJson, toWord } from "../provider-input.ts";
import { requirePlainBody } from "../request-type.ts";
import { readSentObject } from "../sent-json.ts";
import type { SentObject } from "../sent-json.ts";
import { readForwardedEvents } from "./forwarded-events.ts";
import { verifyNango } from "./verify-nango.ts";

const NANGO = "nango";
const REFUSAL = "Invalid signature";
/** The time for questions to the broker and the provider. The broker waits 20 s for our answer. */
const REPORT_TIMEOUT_MS = 15_000;
const KEY_HEADERS = ["idempotency-key", "x-event-id"];
const KEY_CHARS_MAX = 100;
const REPEAT_ID_CHARS_MAX = 255;

const text = z.string().catch("");
const report = z.object({
  type: text,
  connectionId: text,
  providerConfigKey: text,
  operation: text,
  success: z.boolean().catch(true),
  endUser: z.object({ endUserId: text }).catch({ endUserId: "" }),
  tags: z.object({ end_user_id: text }).catch({ end_user_id: "" }),
  error: z.object({ description: text, type: text }).catch({ description: "", type: "" }),
});
type Report = z.output<typeof report>;

/**
 * Accepts messages of the OAuth broker: results of connecting accounts, finished synchronisations, and
 * providers' events. Without a secret nothing is accepted.
 */
export function createNangoRoute(context: InboundContext): InboundRoute {
  const secrets = listSecrets(context.secrets.nango);
  return async (request) => {
    const verdict = verifyNango(request, secrets);
    if (verdict === "unconfigured") {
      return { status: 500, body: { error: "NANGO_WEBHOOK_SECRET is not set" } };
    }
    requirePlainBody(request);
    if (verdict !== "verified") {
      const signature = verdict === "failed" ? "failed" : "skipped";
      await context.intake.refuse({ ...nobodys(request), signature }, REFUSAL);
      throw new AppError("UNAUTHORIZED", REFUSAL);
    }
    const body = readBody(request);
    const accepted = await take(context, request, body, report.parse(body.value));
    return { status: 200, body: { received: true, ...accepted } };
  };
}

function readBody({ rawBody }: InboundRequest): SentObject {
  try {
    return readSentObject(rawBody);
  } catch (error) {
    throw new AppError("BAD_REQUEST", "Invalid JSON", { cause: error });
  }
}

async function take(
  context: InboundContext,
  request: InboundRequest,
  body: SentObject,
  said: Report,
): Promise<Accepted> {
  switch (said.type) {
    case "auth":
      return takeReport(context, { request, body }, said, () => reportAuthorization(context, said));
    case "sync":
      return takeReport(context, { request, body }, said, () => reportSync(context, said));
    case "forward":
    case "webhook":
      return takeForward(context, request, body, said);
    default:
      return { eventId: null, workflowsTriggered: 0 };
  }
}

/** Records a report as an event of the connection's company, if there is one. */
async function takeReport(
  { intake }: InboundContext,
  { request, body }: { request: InboundRequest; body: SentObject },
  { type }: Report,
  tell: () => Promise<FoundConnection>,
): Promise<Accepted> {
  const found = await unlessUnknown(tell());
  const event = { eventType: type, externalEventId: null, dataJson: body.text };
  return intake.accept({
    ...nobodys(request),
    ...(found === null ? {} : { receivers: { companyIds: [found.companyId] } }),
    eventType: type,
    payloadJson: input(event),
    trigger: { connectionId: found?.connectionId ?? null },
    signature: "verified",
  });
}

function reportAuthorization({ accounts }: InboundContext, said: Report): Promise<FoundConnection> {
  const { endUser, tags, error } = said;
  return accounts.reportBrokerAuthorization(
    {
      brokerConnectionId: said.connectionId,
      integrationId: said.providerConfigKey,
      endUserId: tags.end_user_id === "" ? endUser.endUserId : tags.end_user_id,
      success: said.success,
      error: error.description === "" ? error.type : error.description,
      operation: said.operation,
    },
    { identity: webhooksWith("internal:accounts"), timeoutMs: REPORT_TIMEOUT_MS },
  );
}

/** A failed report has synchronised nothing. */
function reportSync({ accounts }: InboundContext, said: Report): Promise<FoundConnection> {
  const name = { brokerConnectionId: said.connectionId, integrationId: said.providerConfigKey };
  const identity = webhooksWith("internal:accounts");
  return said.success
    ? accounts.reportBrokerSync({ ...name, syncedAt: undefined }, { identity })
    : accounts.findBrokerConnection(name, { identity });
}

async function unlessUnknown(told: Promise<FoundConnection>): Promise<FoundConnection | null> {
  try {
    return await told;
  } catch (error) {
    if (isAppError(error) && error.reason === "NOT_FOUND") return null;
    throw error;
  }
}

/**
 * Accepts a provider's events for the connection's company. The answer has the first one's id, and the number of
 * all runs.
 */
async function takeForward(
  { intake }: InboundContext,
  request: InboundRequest,
  body: SentObject,
  { connectionId, providerConfigKey: integration }: Report,
): Promise<Accepted> {
  const provider = PROVIDERS.find((each) => integrationOf(each) === integration);
  const key = findKey(request);
  const isKnown = provider !== undefined && connectionId !== "";
  const named = { integrationId: integration, brokerConnectionId: connectionId };
  const messages = readEvents(provider?.id ?? NANGO, body).map((event, place): InboundMessage => {
    const { eventType, externalEventId, repeatId = externalEventId } = event;
    const known = key === null ? repeatId : `${key}/${place}`;
    return {
      ...nobodys(request),
      provider: provider?.id ?? NANGO,
      receivers: isKnown ? { accountIds: [brokerAccount(named)] } : { companyIds: [] },
      eventType,
      externalEventId,
      // The broker sends an event once for each connection concerned.
      repeatId: known === null ? null : bounded(`${connectionId}/${known}`),
      payloadJson: input(event),
      trigger: { integration },
      signature: "verified",
    };
  });
  const outcomes = await Promise.allSettled(messages.map((message) => intake.accept(message)));
  const accepted = outcomes.map((outcome) => {
    if (outcome.status === "fulfilled") return outcome.value;
    throw outcome.reason;
  });
  return {
    eventId: accepted[0]?.eventId ?? null,
    workflowsTriggered: accepted.reduce((sum, each) => sum + each.workflowsTriggered, 0),
  };
}

function readEvents(provider: string, { members }: SentObject) {
  const payload = members.get("payload") ?? "null";
  try {
    return readForwardedEvents(provider, payload);
  } catch (error) {
    throw new AppError("BAD_REQUEST", "Invalid payload", { cause: error });
  }
}

function input(event: Parameters<typeof toInputJson>[0]): string {
  try {
    return toInputJson(event);
  } catch (error) {
    throw new AppError("BAD_REQUEST", "Invalid payload", { cause: error });
  }
}

function integrationOf({ id, auth }: ProviderManifest): string {
  return auth.kind === "oauth" ? (auth.brokerIntegration ?? id) : id;
}

/** The sender's own id of a request (D41); one that is too long counts as none. */
function findKey({ headers }: InboundRequest): string | null {
  const [key] = KEY_HEADERS.flatMap((name) => headers.get(name) ?? []);
  return key === undefined || key.length > KEY_CHARS_MAX ? null : toWord(key);
}

function bounded(id: string): string {
  return id.length > REPEAT_ID_CHARS_MAX ? createHash("sha256").update(id).digest("hex") : id;
}

/** The record of a request whose company is unknown. */
function nobodys(request: InboundRequest): Omit<InboundMessage, "signature"> {
  return {
    provider: NANGO,
    receivers: { companyIds: [] },
    eventType: null,
    externalEventId: null,
    payloadJson: "{}",
    payloadBytes: request.rawBody.length,
    trigger: {},
    requestId: request.requestId,
    traceparent: request.traceparent,
  };
}
