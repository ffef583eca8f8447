import type { EventEnvelope } from "./envelope.ts";

/** An event on its way from an outbox to the bus. */
export interface PublishedEvent {
  id: string;
  /** First word of the subject, and the name of the stream that keeps it. */
  stream: string;
  type: string;
  /** The whole envelope as JSON text, handed on without parsing it. */
  body: string;
}

export type EventHandler = (event: EventEnvelope) => Promise<void>;

export interface SubscribeOptions {
  /**
   * The durable name. All subscriptions of one name share the events among them; each name gets
   * all events, including those published while nobody of that name was there.
   */
  consumer: string;
  stream: string;
  /** Only these types; all when absent. */
  types?: readonly string[];
  /**
   * Resolves once the event's effects are committed. A rejection makes the event come again after
   * a while, without an end. Must be idempotent on `event.id`: delivery is at least once.
   */
  handler: EventHandler;
  /** Closes the subscription when aborted. */
  signal?: AbortSignal;
  /** Handlers that run at once. Default 16; 1 keeps the order of publication. */
  maxInFlight?: number;
}

export const DEFAULT_MAX_IN_FLIGHT = 16;

export interface Subscription {
  /** Takes no more events and waits for the handlers that run. */
  close(): Promise<void>;
}

/** Carries events from outboxes to consumers. The outbox is the truth, the bus only transports. */
export interface EventBus {
  /**
   * Resolves when every event is durable (with its consumers, for the in-process bus).
   *
   * @throws PublishError listing the events that are not; all others are durable
   */
  publish(events: readonly PublishedEvent[]): Promise<void>;
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  /** Closes the subscriptions, sends what is under way and lets go of the connection. */
  close(): Promise<void>;
}

/**
 * Why one event was not published:
 * `refused` — the bus will never take it (too big, malformed);
 * `failed` — this event failed, others need not; worth another try;
 * `unavailable` — the bus takes nothing at the moment.
 */
export interface PublishFailure {
  id: string;
  kind: "refused" | "failed" | "unavailable";
  cause: unknown;
}

/** Some of the events given to `publish` are not durable: those listed. */
export class PublishError extends Error {
  override readonly name = "PublishError";
  readonly failures: readonly PublishFailure[];

  constructor(failures: readonly PublishFailure[]) {
    const [first] = failures;
    const reason = first?.cause instanceof Error ? first.cause.message : String(first?.cause);
    super(`${failures.length} events not published: ${reason}`, { cause: first?.cause });
    this.failures = failures;
  }
}

/** The failures of a batch of which the bus took nothing. */
export function unavailable(events: readonly PublishedEvent[], cause: unknown): PublishFailure[] {
  return events.map(({ id }) => ({ id, kind: "unavailable", cause }));
}
