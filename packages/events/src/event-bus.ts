import type { Tracer } from "@workflow/tracing";
import type { EventEnvelope } from "./envelope.ts";
import type { EncodedBody } from "./nats-body.ts";

/** An event on its way from an outbox to the bus. */
export interface PublishedEvent {
  id: string;
  /** First word of the subject, and the name of the stream that keeps it. */
  stream: string;
  type: string;
  /** The whole envelope as JSON text. It is passed on without being parsed. */
  body: string;
}

export type EventHandler = (event: EventEnvelope) => Promise<void>;

export interface SubscribeOptions {
  /**
   * The durable name. All subscriptions of one name share the events among them. Each name gets all
   * events, including those published while no process of that name was connected.
   */
  consumer: string;
  stream: string;
  /** Only these types; all when absent. */
  types?: readonly string[];
  /**
   * Resolves once the event's effects are committed. After a rejection the event is delivered again,
   * without an end unless there are dead letters. The handler must be idempotent on `event.id`:
   * delivery is at least once.
   */
  handler: EventHandler;
  /** Keeps events that fail again and again. Without it they are delivered again for ever. */
  deadLetters?: DeadLetters;
  /** Makes the spans of handlers whose event belongs to a trace that is recorded. */
  tracer?: Tracer | undefined;
  /** Closes the subscription when aborted. */
  signal?: AbortSignal;
  /** Most handlers that run at once. Default 16; 1 keeps the order of publication. */
  maxInFlight?: number;
}

/** A consumer by its durable name. */
export type ConsumerName = Pick<SubscribeOptions, "stream" | "consumer">;

/** A message as a consumer got it. */
export interface Message {
  /** The event's id. For a message that is no event, an id within its stream. */
  eventId: string;
  type: string;
  /** Null for a message that is no event. */
  companyId: string | null;
  body: EncodedBody;
}

/** Keeps the events that a consumer cannot handle. */
export interface DeadLetters {
  /**
   * Counts a failure. True once the event is kept and must not be delivered again. All processes of the
   * consumer share the count, and it outlives them. Transient failures do not count.
   *
   * @throws Error when it cannot be counted or kept: then the event has to be delivered again
   */
  countFailure(consumer: ConsumerName, message: Message, error: unknown): Promise<boolean>;
  /**
   * Keeps a message at once that no further try would make an event.
   *
   * @throws Error as `countFailure`
   */
  keep(consumer: ConsumerName, message: Message, error: string): Promise<void>;
  /** Deletes the failures of an event that was handled after all. Never rejects. */
  forget(consumer: ConsumerName, eventId: string): Promise<void>;
  /**
   * Gives the handler the letters that an operator has marked, deletes old letters and measures, until
   * the signal. Never rejects.
   */
  tend(subscription: SubscribeOptions, signal: AbortSignal): Promise<void>;
}

export const DEFAULT_MAX_IN_FLIGHT = 16;

export interface Subscription {
  /** Takes no more events and waits for running handlers. */
  close(): Promise<void>;
}

/** Carries events from outboxes to consumers. The outbox is the truth, the bus only transports. */
export interface EventBus {
  /**
   * Resolves when every event is durable (or handled, for the in-process bus).
   *
   * @throws PublishError listing the events that are not; all others are durable
   */
  publish(events: readonly PublishedEvent[]): Promise<void>;
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  /** Closes the subscriptions, sends what is under way and closes the connection. */
  close(): Promise<void>;
}

/**
 * The reason why one event was not published. `refused`: the bus will never take it (too big,
 * malformed). `failed`: this event failed, others need not; worth another try. `unavailable`: the bus
 * takes nothing at the moment.
 */
export interface PublishFailure {
  id: string;
  kind: "refused" | "failed" | "unavailable";
  cause: unknown;
}

/** The listed events of those given to `publish` are not durable. */
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
