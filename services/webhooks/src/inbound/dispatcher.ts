import { AppError, isAppError } from "@workflow/errors";
import type { InboundContext } from "./inbound-context.ts";
import type { InboundMessage, SignatureVerified } from "../domain/inbound-message.ts";
import type { InboundAnswer, InboundRequest, InboundRoute } from "./inbound-request.ts";
import type { ProviderHandler, SignatureVerdict } from "./provider-handler.ts";
import { toInputJson } from "./provider-input.ts";
import { requirePlainBody } from "./request-type.ts";

/** The stored payload of a body that was refused or that nobody can read. */
const UNREAD = "{}";

/**
 * The route of one provider. It checks the signature, reads the events, and stores each for the
 * companies that have connected its account. An event without an account, or of an account that nobody
 * has connected, is recorded and starts nothing.
 */
export function createDispatcherRoute<Event>(
  context: DispatcherContext,
  handler: ProviderHandler<Event>,
): InboundRoute {
  const dispatcher = new Dispatcher(context, handler);
  return (request) => dispatcher.answer(request);
}

type DispatcherContext = Pick<InboundContext, "intake" | "requireSignature" | "logger">;

class Dispatcher<Event> {
  readonly #context: DispatcherContext;
  readonly #handler: ProviderHandler<Event>;

  constructor(context: DispatcherContext, handler: ProviderHandler<Event>) {
    this.#context = context;
    this.#handler = handler;
  }

  /** The answer to a request of the provider. */
  async answer(request: InboundRequest): Promise<InboundAnswer> {
    requirePlainBody(request);
    const verdict = await this.#verify(request);
    if (verdict === null) return { status: 500, body: { error: "Verification error" } };
    const refusal = refusalOf(verdict, this.#context.requireSignature);
    const messages = this.#read(request, signatureOf(verdict));
    if (refusal !== null) {
      const refused = messages ?? [this.#unread(request, signatureOf(verdict))];
      await Promise.all(refused.map((message) => this.#context.intake.refuse(message, refusal)));
      return { status: 401, body: { error: refusal } };
    }
    if (messages === null) return { status: 400, body: { error: "Invalid payload" } };
    return { status: 200, body: { received: true, count: await this.#accept(messages) } };
  }

  /** Null when the check itself fails. */
  async #verify(request: InboundRequest): Promise<SignatureVerdict | null> {
    try {
      return await this.#handler.verify(request);
    } catch (error) {
      if (isAppError(error) && error.reason === "UNAUTHORIZED") return "failed";
      this.#context.logger.error(
        { err: error, provider: this.#handler.provider, requestId: request.requestId },
        "a webhook's signature could not be verified",
      );
      return null;
    }
  }

  /** Null when the body is not in the provider's format. */
  #read(request: InboundRequest, signature: SignatureVerified): InboundMessage[] | null {
    try {
      return this.#handler
        .parse(request)
        .map((event) => this.#toMessage(request, event, signature));
    } catch (error) {
      this.#context.logger.info(
        { err: error, provider: this.#handler.provider, requestId: request.requestId },
        "a webhook's payload could not be read",
      );
      return null;
    }
  }

  #toMessage(request: InboundRequest, event: Event, signature: SignatureVerified): InboundMessage {
    const normalised = this.#handler.normalise(event);
    const { eventType, externalEventId, repeatId = null } = normalised;
    const accountIds = this.#handler.accountsOf(event);
    const payloadJson = toInputJson(normalised);
    return {
      ...this.#unread(request, signature),
      receivers: accountIds.length === 0 ? { companyIds: [] } : { accountIds },
      eventType,
      externalEventId,
      repeatId,
      payloadJson,
      payloadBytes: Buffer.byteLength(payloadJson),
    };
  }

  #unread(request: InboundRequest, signature: SignatureVerified): InboundMessage {
    return {
      provider: this.#handler.provider,
      receivers: { companyIds: [] },
      eventType: null,
      externalEventId: null,
      payloadJson: UNREAD,
      payloadBytes: request.rawBody.length,
      trigger: {},
      signature,
      requestId: request.requestId,
      traceparent: request.traceparent,
    };
  }

  /**
   * Accepts all messages, even after a failure. The sender then repeats all of them, and only the
   * failed one is new.
   */
  async #accept(messages: readonly InboundMessage[]): Promise<number> {
    const outcomes = await Promise.allSettled(
      messages.map((message) => this.#context.intake.accept(message)),
    );
    // Repeats within one request are the same event.
    const countByEvent = new Map<string | null, number>();
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") throw outcome.reason;
      countByEvent.set(outcome.value.eventId, outcome.value.workflowsTriggered);
    }
    return [...countByEvent.values()].reduce((sum, count) => sum + count, 0);
  }
}

/** The reason for refusing a request, in the words of the answer; null when it is accepted. */
function refusalOf(verdict: SignatureVerdict, requireSignature: boolean): string | null {
  switch (verdict) {
    case "verified":
      return null;
    case "failed":
    case "missing":
      return "Invalid signature";
    case "unconfigured":
      return requireSignature ? "Signatures cannot be verified here" : null;
    default:
      throw new AppError("INTERNAL_ERROR", `unknown verdict ${String(verdict satisfies never)}`);
  }
}

function signatureOf(verdict: SignatureVerdict): SignatureVerified {
  if (verdict === "verified" || verdict === "failed") return verdict;
  return "skipped";
}
