import { backoffMs, Semaphore, sleep } from "@workflow/async";
import type { ConsumerMessages, ConsumerStatus, JsMsg } from "nats";
import { ConsumerEvents } from "nats";
import type { Registry } from "prom-client";
import { watchConsumer } from "./consumer-metrics.ts";
import { deliver } from "./deliver.ts";
import type { SubscribeOptions, Subscription } from "./event-bus.ts";
import { DEFAULT_MAX_IN_FLIGHT } from "./event-bus.ts";
import type { EventsLogger } from "./logger.ts";
import { decodeBody, ENCODING_HEADER, GZIP } from "./nats-body.ts";
import type { NatsStreamOptions } from "./nats-config.ts";
import { makeConsumer } from "./nats-consumer.ts";
import type { DeviationLog } from "./nats-deviations.ts";
import { consumerDeviations } from "./nats-deviations.ts";
import type { NatsLink, NatsSession } from "./nats-link.ts";
import { API_TIMEOUT_MS, ensureStream } from "./nats-stream.ts";

interface NatsDelivery {
  ackWaitMs: number;
  redeliverFirstMs: number;
  redeliverMaxMs: number;
}

interface Consuming {
  link: NatsLink;
  stream: NatsStreamOptions;
  logger: EventsLogger;
  delivery: NatsDelivery;
  tellDeviations: DeviationLog;
  metricsRegistry: Registry | undefined;
}

const RESTART = { firstMs: 100, maxMs: 5_000 } as const;
const PULL_EXPIRES_MS = 5_000;
/** A consumer that has vanished, or has no leader, is noticed when two heartbeats are missing. */
const HEARTBEAT_MS = 1_500;

/** Begins as soon as there is a connection and goes on until it is closed. */
export function subscribeOverNats(bus: Consuming, options: SubscribeOptions): Subscription {
  const stopping = new AbortController();
  const ended = Promise.all([
    consumeForever(bus, options, stopping.signal),
    options.deadLetters?.tend(options, stopping.signal),
    watchConsumer(bus, options, stopping.signal),
  ]);
  const close = async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
  if (options.signal?.aborted === true) stopping.abort();
  else options.signal?.addEventListener("abort", () => stopping.abort(), { once: true });
  return { close };
}

async function consumeForever(
  bus: Consuming,
  options: SubscribeOptions,
  signal: AbortSignal,
): Promise<void> {
  const slots = new Semaphore(options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT);
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    const session = await bus.link.session(signal);
    if (session === null) break;
    try {
      const messages = await openMessages(bus, options, session);
      attempt = 0;
      // A status listener of closed messages would never end, so it comes first.
      const statuses = await messages.status();
      const ends = [signal, session.lost].map((each) => closeOnAbort(messages, each));
      await Promise.all([
        handleAll(bus, options, { messages, slots, signal }),
        watch(messages, statuses),
      ]);
      for (const forget of ends) forget();
    } catch (err) {
      const { stream, consumer } = options;
      bus.logger.warn({ err, stream, consumer }, "events cannot be consumed at the moment");
    }
    await sleep(backoffMs(attempt, RESTART), signal);
  }
  await slots.whenIdle();
}

/** Creates the durable consumer if it is missing, and begins to pull. */
async function openMessages(
  bus: Consuming,
  { stream, consumer, maxInFlight = DEFAULT_MAX_IN_FLIGHT }: SubscribeOptions,
  session: NatsSession,
): Promise<ConsumerMessages> {
  // The stream is looked up again: a vanished consumer may have gone with its stream.
  session.streams.delete(stream);
  await ensureStream(session, stream, bus.stream, bus.tellDeviations);
  const manager = await session.connection.jetstreamManager({ timeout: API_TIMEOUT_MS });
  const { ackWaitMs } = bus.delivery;
  const found = await makeConsumer(manager, stream, consumer, ackWaitMs);
  if (found !== null) {
    bus.tellDeviations({ stream, consumer }, consumerDeviations(found, ackWaitMs));
  }
  const durable = await session.connection.jetstream().consumers.get(stream, consumer);
  return durable.consume({
    max_messages: maxInFlight,
    expires: PULL_EXPIRES_MS,
    idle_heartbeat: HEARTBEAT_MS,
    bind: true,
  });
}

function closeOnAbort(messages: ConsumerMessages, signal: AbortSignal): () => void {
  const close = (): void => void messages.close();
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });
  return () => signal.removeEventListener("abort", close);
}

/** Ends pulling when the server does not know the consumer any more, so that it begins again. */
async function watch(
  messages: ConsumerMessages,
  statuses: AsyncIterable<ConsumerStatus>,
): Promise<void> {
  const ends: unknown[] = [
    ConsumerEvents.ConsumerDeleted,
    ConsumerEvents.HeartbeatsMissed,
    ConsumerEvents.NoResponders,
  ];
  for await (const { type } of statuses) {
    if (ends.includes(type)) await messages.close();
  }
}

async function handleAll(
  bus: Consuming,
  options: SubscribeOptions,
  {
    messages,
    slots,
    signal,
  }: { messages: ConsumerMessages; slots: Semaphore; signal: AbortSignal },
): Promise<void> {
  for await (const message of messages) {
    const release = await slots.acquire();
    if (signal.aborted) {
      // Fetched but not begun: another process may have it at once.
      message.nak();
      release();
      continue;
    }
    void handle(bus, options, message).finally(release);
  }
}

/**
 * Acknowledges after the handler's success, or when the event is kept as a dead letter. Never rejects.
 */
async function handle(bus: Consuming, options: SubscribeOptions, message: JsMsg): Promise<void> {
  const { ackWaitMs, redeliverFirstMs: firstMs, redeliverMaxMs: maxMs } = bus.delivery;
  const { stream, consumer, types } = options;
  const type = message.subject.slice(stream.length + 1);
  if (types !== undefined && !types.includes(type)) return message.ack();
  const stillWorking = setInterval(() => message.working(), ackWaitMs / 3);
  const fields = { stream, consumer, type, seq: message.seq };
  const attempt = message.info.redeliveryCount;
  const gzipped = message.headers?.get(ENCODING_HEADER) === GZIP;
  try {
    const outcome = await deliver(options, {
      type,
      readText: () => decodeBody(message.data, gzipped),
      encode: async () => ({ bytes: message.data, gzipped }),
      position: String(message.seq),
      isRepeated: attempt > 1,
    });
    if (outcome.is === "done") return message.ack();
    if (outcome.is === "kept") return message.term();
    if (outcome.is === "foreign") {
      bus.logger.error(fields, "a message that is no event is left out");
      return message.term();
    }
    const { error: err } = outcome;
    bus.logger.warn({ ...fields, err, attempt }, "an event was not handled; it will come again");
    message.nak(backoffMs(attempt, { firstMs, maxMs }));
  } finally {
    clearInterval(stillWorking);
  }
}
