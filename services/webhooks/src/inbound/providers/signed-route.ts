import { AppError, isAppError } from "@workflow/errors";
import type { InboundContext } from "../inbound-context.ts";
import type { InboundMessage } from "../../domain/inbound-message.ts";
import type { InboundRequest, InboundRoute } from "../inbound-request.ts";
import type { NormalisedEvent, SignatureVerdict } from "../provider-handler.ts";
import { toInputJson } from "../provider-input.ts";
import { requireJsonType } from "../request-type.ts";
import { readSentObject, SentJsonError } from "../sent-json.ts";
import type { SentObject } from "../sent-json.ts";

/** Checks and reads the bodies of one provider, each with one event. */
export interface SignedSource {
  provider: string;
  verify(request: InboundRequest): SignatureVerdict;
  /** The accounts at the provider that an event concerns, as connections hold them. */
  accountsOf(event: SentObject): readonly string[];
  normalise(event: SentObject, request: InboundRequest): NormalisedEvent;
}

/** The reasons for refusing a request: the answer to the sender, and the text of the record. */
const REFUSALS = {
  failed: { answer: "Invalid signature", signature: "failed" },
  missing: { answer: "Missing signature", signature: "skipped" },
  unconfigured: {
    answer: "No secret is configured to verify the signature with",
    signature: "skipped",
  },
} as const;

/** The route of a provider that signs what it sends (D40). Refused requests are recorded, too. */
export function createSignedRoute(
  { intake, requireSignature }: Pick<InboundContext, "intake" | "requireSignature">,
  source: SignedSource,
): InboundRoute {
  return async (request) => {
    requireJsonType(request);
    const verdict = verify(source, request);
    const message = readMessage(source, request);
    if (verdict !== "verified" && (verdict !== "unconfigured" || requireSignature)) {
      const { answer, signature } = REFUSALS[verdict];
      await intake.refuse({ ...(message ?? unread(source, request)), signature }, answer);
      throw new AppError("UNAUTHORIZED", answer);
    }
    if (message === null) throw new AppError("BAD_REQUEST", "Invalid JSON");
    const signature = verdict === "verified" ? "verified" : "skipped";
    const accepted = await intake.accept({ ...message, signature });
    return { status: 200, body: { received: true, ...accepted } };
  };
}

/** A header that was sent twice counts as a wrong one, and is recorded like that. */
function verify(source: SignedSource, request: InboundRequest): SignatureVerdict {
  try {
    return source.verify(request);
  } catch (error) {
    if (isAppError(error) && error.reason === "UNAUTHORIZED") return "failed";
    throw error;
  }
}

/** Null when the body is no JSON object that can be stored. */
function readMessage(
  source: SignedSource,
  request: InboundRequest,
): Omit<InboundMessage, "signature"> | null {
  try {
    const event = readSentObject(request.rawBody);
    const normalised = source.normalise(event, request);
    return {
      ...unread(source, request),
      receivers: { accountIds: source.accountsOf(event) },
      eventType: normalised.eventType,
      externalEventId: normalised.externalEventId,
      payloadJson: toInputJson(normalised),
    };
  } catch (error) {
    if (error instanceof SentJsonError) return null;
    throw error;
  }
}

/** The record of a body that nobody can read. */
function unread(
  { provider }: SignedSource,
  request: InboundRequest,
): Omit<InboundMessage, "signature"> {
  return {
    provider,
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
