import { connect } from "nats";
import { readNatsAddress } from "./nats-address.ts";
import type { Replicas } from "./nats-config.ts";
import { ACK_WAIT_MS, STREAM_MAX_AGE_MS } from "./nats-config.ts";
import { makeConsumer } from "./nats-consumer.ts";
import type { Deviation } from "./nats-deviations.ts";
import { consumerDeviations, streamDeviations } from "./nats-deviations.ts";
import { makeStream } from "./nats-stream.ts";

export interface NatsSetUpOptions {
  /** The same as for the bus. The user needs the whole API of JetStream. */
  servers: string;
  /** The streams, and for each the consumers that must get everything from its beginning. */
  streams: Readonly<Record<string, readonly string[]>>;
  /** Copies of each stream created here: 1, or 3 or 5 in a cluster. */
  replicas: Replicas;
}

/** What was missing and has been created, and how existing streams and consumers deviate. */
export interface NatsSetUp {
  streams: string[];
  /** `<stream>.<consumer>` */
  consumers: string[];
  /** `of` is a stream, or `<stream>.<consumer>`. */
  deviations: (Deviation & { of: string })[];
}

const SET_UP_NAME = "setup";
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Creates missing streams and durable consumers, for servers on which services may not do so
 * themselves. Existing ones keep their configuration; deviations are returned.
 */
export async function setUpNats({
  servers,
  streams,
  replicas,
}: NatsSetUpOptions): Promise<NatsSetUp> {
  const connection = await connect({
    ...readNatsAddress(servers),
    name: SET_UP_NAME,
    inboxPrefix: `_INBOX.${SET_UP_NAME}`,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: 0,
  });
  const made: NatsSetUp = { streams: [], consumers: [], deviations: [] };
  const deviate = (of: string, deviations: readonly Deviation[]): void => {
    made.deviations.push(...deviations.map((each) => ({ of, ...each })));
  };
  try {
    const manager = await connection.jetstreamManager();
    for (const [stream, consumers] of Object.entries(streams)) {
      const options = { replicas, maxAgeMs: STREAM_MAX_AGE_MS };
      const found = await makeStream(manager, stream, options);
      if (found === null) made.streams.push(stream);
      else deviate(stream, streamDeviations(found, options));
      for (const consumer of consumers) {
        const name = `${stream}.${consumer}`;
        const known = await makeConsumer(manager, stream, consumer, ACK_WAIT_MS);
        if (known === null) made.consumers.push(name);
        else deviate(name, consumerDeviations(known, ACK_WAIT_MS));
      }
    }
  } finally {
    await connection.close();
  }
  return made;
}
