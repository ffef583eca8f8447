import type { InboundRequest } from "./inbound-request.ts";

/** The result of checking a signature; `missing`: none was sent; `unconfigured`: there is no secret. */
export type SignatureVerdict = "verified" | "failed" | "missing" | "unconfigured";

/** An event in the form for workflows (D40a). */
export interface NormalisedEvent {
  eventType: string | null;
  /** The provider's id of the event, at most 255 characters. Repeats are recognized by it (D41). */
  externalEventId: string | null;
  /** The id by which repeats are recognized, where the provider's own id is not enough; at most 255 characters. */
  repeatId?: string;
  /** JSON text. It is cut out of the body, so numbers stay as they were sent. */
  dataJson: string;
}

/** Reads the events of one provider. */
export interface ProviderHandler<Event> {
  /** The provider's id, as connections and triggers name it (D37). */
  provider: string;
  /**
   * Checks the signature of the raw body, in constant time. Errors other than AppErrors count as a verification
   * error.
   */
  verify(request: InboundRequest): SignatureVerdict | Promise<SignatureVerdict>;
  /** The events in a body. Errors other than AppErrors mean an invalid payload. */
  parse(request: InboundRequest): readonly Event[];
  /** The accounts at the provider that an event concerns, as connections hold them in `externalAccountId`. */
  accountsOf(event: Event): readonly string[];
  normalise(event: Event): NormalisedEvent;
}
