/** What is known of a sender: who has signed it, who has signed it wrong, or nobody has said. */
export type SignatureVerified = "verified" | "failed" | "skipped";

/** One thing that a sender tells; several companies may hear of it. */
export interface InboundMessage {
  /** The provider's id, or `custom`. */
  provider: string;
  /**
   * Whom it is for: companies, or the accounts at the provider whose connections tell them. An event of accounts
   * that nobody has connected is recorded, and starts nothing.
   */
  receivers: { companyIds: readonly string[] } | { accountIds: readonly string[] };
  /** The path of the custom route, decoded. */
  path?: string;
  eventType: string | null;
  /** The provider's id of the event. By it repeats are known (D41), those of the custom route by `repeatKey`. */
  externalEventId: string | null;
  /** What repeats are known by instead, where the provider's id alone does not tell. At most 255 characters. */
  repeatId?: string | null;
  /** A key that holds within the company, instead of both. 1 to 255 characters. */
  repeatKey?: string | null;
  /** The input of the runs: JSON text that Postgres can store, at most 1 MiB. */
  payloadJson: string;
  /** Bytes of the body as it came in. */
  payloadBytes: number;
  /** What templates see as `trigger` besides the event's id and the provider: JSON values. */
  trigger: Readonly<Record<string, unknown>>;
  signature: SignatureVerified;
  requestId: string;
  /** W3C trace context of the request, where its trace is recorded. */
  traceparent?: string | undefined;
}

/** What has become of an accepted message. */
export interface Accepted {
  /** The first event that was made of it, now or when it came first; null when nobody hears of it. */
  eventId: string | null;
  /** Runs that it has started so far, in all companies. */
  workflowsTriggered: number;
}

/** Takes messages in. */
export interface Intake {
  /**
   * Stores a message, starts its runs and waits for them, at most 5 s. Of a repeat the answer is that of the
   * first one, unless that was for nobody: then it is taken like a new one.
   *
   * @throws AppError RATE_LIMITED when too much of the company waits already, UNAVAILABLE when it could not be
   * stored
   */
  accept(message: InboundMessage): Promise<Accepted>;
  /**
   * Records a message that was refused; it starts nothing and claims no id. Beyond so many an hour nothing
   * is kept.
   *
   * @param error why, for people
   */
  refuse(message: InboundMessage, error: string): Promise<void>;
}
