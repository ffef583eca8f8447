import { connect } from "nats";
import { readNatsAddress } from "./nats-address.ts";
import { ACK_WAIT_MS, ensureConsumer } from "./nats-consumer.ts";
import { makeStream, STREAM_MAX_AGE_MS } from "./nats-stream.ts";

export interface NatsSetUpOptions {
  /** As of the bus; the user needs the whole API of JetStream. */
  servers: string;
  /** The streams, and of each the consumers that have to get everything from its beginning. */
  streams: Readonly<Record<string, readonly string[]>>;
  /** Copies of each stream made here: 1, or 3 or 5 in a cluster. */
  replicas: 1 | 3 | 5;
}

/** What was missing and has been made. */
export interface NatsSetUp {
  streams: string[];
  /** `<stream>.<consumer>` */
  consumers: string[];
}

const SET_UP_NAME = "setup";
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Makes the streams and durable consumers that are missing, for servers on which services may not do
 * so themselves. What is there keeps its configuration.
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
  const made: NatsSetUp = { streams: [], consumers: [] };
  try {
    const manager = await connection.jetstreamManager();
    for (const [stream, consumers] of Object.entries(streams)) {
      const options = { replicas, maxAgeMs: STREAM_MAX_AGE_MS };
      if (await makeStream(manager, stream, options)) made.streams.push(stream);
      for (const consumer of consumers) {
        const isNew = await ensureConsumer(manager, stream, consumer, ACK_WAIT_MS);
        if (isNew) made.consumers.push(`${stream}.${consumer}`);
      }
    }
  } finally {
    await connection.close();
  }
  return made;
}
