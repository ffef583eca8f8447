import type { ConsumerConfig, StreamConfig } from "nats";
import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  nanos,
  ReplayPolicy,
  RetentionPolicy,
  StorageType,
} from "nats";

/*
 * The configuration of streams and consumers. Services and set-up-nats create them with it and compare
 * existing ones with it. It is also written to files in deploy/nats, which a test compares with it.
 */

/** A week: how long a consumer may be away without losing anything. */
export const STREAM_MAX_AGE_MS = 7 * 24 * 60 * 60 * 1_000;
/** How long the server waits for an event's acknowledgement before it delivers it again. */
export const ACK_WAIT_MS = 30_000;

/** Covers the retries of a batch. Later repeats are left to the consumers' idempotency. */
const DUPLICATE_WINDOW_MS = 2 * 60 * 1_000;
/**
 * Over all processes that share the consumer's name. Events that wait for their next try are among
 * them. With a small limit a single company's failing events would stop everybody's.
 */
const ACK_PENDING_MAX = 10_000;

/** Copies of a stream: more than one in a cluster only. */
export type Replicas = 1 | 3 | 5;

export interface NatsStreamOptions {
  replicas: Replicas;
  maxAgeMs: number;
}

/** The configuration of a stream, in the server's terms. */
export function streamConfig(name: string, { replicas, maxAgeMs }: NatsStreamOptions) {
  return {
    name,
    subjects: [`${name}.>`],
    storage: StorageType.File,
    // Not by interest: an event must also wait for a consumer that is not registered yet.
    retention: RetentionPolicy.Limits,
    // A full stream refuses new events, which then wait in the outbox. It never drops old ones.
    discard: DiscardPolicy.New,
    max_age: nanos(maxAgeMs),
    duplicate_window: nanos(Math.min(DUPLICATE_WINDOW_MS, maxAgeMs)),
    num_replicas: replicas,
  } satisfies Partial<StreamConfig>;
}

/** The configuration of a durable consumer, in the server's terms. */
export function consumerConfig(name: string, ackWaitMs: number) {
  return {
    durable_name: name,
    // Types are filtered on arrival rather than by the server: 2.9 has only one filter per consumer. So
    // a consumer never needs to be changed.
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ackWaitMs),
    max_deliver: -1,
    max_ack_pending: ACK_PENDING_MAX,
    replay_policy: ReplayPolicy.Instant,
  } satisfies Partial<ConsumerConfig>;
}

/** The same as files for NATS' command line: the text of each by its path below deploy/nats. */
export function natsConfigFiles(
  streams: Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, string> {
  const files = new Map<string, object>();
  for (const [stream, consumers] of Object.entries(streams)) {
    const options = { replicas: 1, maxAgeMs: STREAM_MAX_AGE_MS } as const;
    files.set(`streams/${stream}.json`, streamConfig(stream, options));
    for (const consumer of consumers) {
      const config = consumerConfig(consumer, ACK_WAIT_MS);
      files.set(`consumers/${stream}/${consumer}.json`, config);
    }
  }
  return new Map(
    [...files].map(([path, config]) => [path, `${JSON.stringify(config, null, 2)}\n`]),
  );
}
