import type { InboundRequest } from "./inbound-request.ts";

/** What a look at a signature says: `missing`: none was sent; `unconfigured`: there is no secret to check with. */
export type SignatureVerdict = "verified" | "failed" | "missing" | "unconfigured";

/** An event as it is handed to workflows (D40a). */
export interface NormalisedEvent {
  eventType: string | null;
  /** The provider's id of the event, at most 255 characters; repeats are known by it (D41). */
  externalEventId: string | null;
  /** What repeats are known by instead, where the provider's id alone does not tell; at most 255 characters. */
  repeatId?: string;
  /** JSON text; a cut of the body keeps numbers as they were sent. */
  dataJson: string;
}

/** How events of one provider are read. */
export interface ProviderHandler<Event> {
  /** The provider's id, as connections and triggers name it (D37). */
  provider: string;
  /** Looks at the raw body, in constant time. What it throws, other than an AppError, is a Verification error. */
  verify(request: InboundRequest): SignatureVerdict | Promise<SignatureVerdict>;
  /** The events in a body. What it throws, other than an AppError, means an Invalid payload. */
  parse(request: InboundRequest): readonly Event[];
  /** The accounts at the provider that an event is about, as connections hold them in `externalAccountId`. */
  accountsOf(event: Event): readonly string[];
  normalise(event: Event): NormalisedEvent;
}
