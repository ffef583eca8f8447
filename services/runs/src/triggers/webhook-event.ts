/** An event that starts the workflows that wait for it. */
export interface WebhookEvent {
  companyId: string;
  /** Unique among the company's events, whatever their source. */
  id: string;
  /** The key that workflows wait for (`triggerKeyOf`). */
  triggerKey: string;
  /** JSON text: the input of the runs. */
  input: string;
  /** The same, parsed. */
  inputValue: unknown;
  /** JSON text of an object: what templates see as `trigger`. */
  triggerData: string;
  /** The request that brought it; null when none did. */
  requestId: string | null;
  /** The traceparent of its span; null when that is not recorded. */
  traceparent: string | null;
}
