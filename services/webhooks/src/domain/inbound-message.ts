/** The result of checking a sender's signature: valid, wrong, or not checked. */
export type SignatureVerified = "verified" | "failed" | "skipped";

/** One message of a sender. Several companies may receive it. */
export interface InboundMessage {
  /** The provider's id, or `custom`. */
  provider: string;
  /**
   * The receivers: companies, or accounts at the provider that companies have connected. An event of accounts that
   * nobody has connected is recorded, and starts nothing.
   */
  receivers: { companyIds: readonly string[] } | { accountIds: readonly string[] };
  /** The path of the custom route, decoded. */
  path?: string;
  eventType: string | null;
  /**
   * The provider's id of the event. Repeats are recognized by it (D41), those of the custom route by `repeatKey`.
   */
  externalEventId: string | null;
  /** The id by which repeats are recognized, where the provider's own id is not enough. At most 255 characters. */
  repeatId?: string | null;
  /** A key that holds within the company, instead of both. 1 to 255 characters. */
  repeatKey?: string | null;
  /** The input of the runs: JSON text that Postgres can store, at most 1 MiB. */
  payloadJson: string;
  /** Bytes of the body as it arrived. */
  payloadBytes: number;
  /** What templates see as `trigger` besides the event's id and the provider: JSON values. */
  trigger: Readonly<Record<string, unknown>>;
  signature: SignatureVerified;
  requestId: string;
  /** W3C trace context of the request, where its trace is recorded. */
  traceparent?: string | undefined;
}

/** The outcome of an accepted message. */
export interface Accepted {
  /** The first event that was made of it, now or when it first came; null when nobody receives it. */
  eventId: string | null;
  /** Runs that it has started so far, in all companies. */
  workflowsTriggered: number;
}

/** Handles messages. */
export interface Intake {
  /**
   * Stores a message, starts its runs and waits for them, at most 5 s. A repeat gets the first
   * message's answer. If the first message had no receiver, the repeat counts as a new message.
   *
   * @throws AppError RATE_LIMITED when too much of the company waits already; UNAVAILABLE when it could
   * not be stored
   */
  accept(message: InboundMessage): Promise<Accepted>;
  /**
   * Records a refused message. It starts nothing and claims no id. Beyond a limit per hour nothing is
   * stored.
   *
   * @param error the reason, for people
   */
  refuse(message: InboundMessage, error: string): Promise<void>;
}
