import type { Registry } from "prom-client";
import type { EventBus, SubscribeOptions, Subscription } from "./event-bus.ts";
import { PublishError } from "./event-bus.ts";
import type { EventsLogger } from "./logger.ts";
import { createNatsLink } from "./nats-link.ts";
import { publishOverNats } from "./nats-publish.ts";
import type { NatsStreamOptions, Replicas } from "./nats-config.ts";
import { ACK_WAIT_MS, STREAM_MAX_AGE_MS } from "./nats-config.ts";
import { createDeviationLog } from "./nats-deviations.ts";
import { subscribeOverNats } from "./nats-subscription.ts";

export interface NatsEventBusOptions {
  /**
   * One or more addresses, separated by commas: `nats://user:password@host:4222`, user and password
   * percent-encoded.
   */
  servers: string;
  /** The connection's name in the server's lists. Its answers come to `_INBOX.<name>.>`. */
  name: string;
  logger: EventsLogger;
  /** The registry for the lag of consumers; without one it is not measured. */
  metricsRegistry?: Registry | undefined;
  /** Copies of each stream created here: 1 (default), or 3 in a cluster. */
  replicas?: Replicas;
  /** How long a stream keeps events. Default 7 days. */
  maxAgeMs?: number;
  /**
   * How long the server waits for an event's acknowledgement before it delivers it again, in
   * milliseconds. Default 30 000.
   */
  ackWaitMs?: number;
  /**
   * Delay after a handler's first failure, in milliseconds; it doubles with each further one. Default
   * 250.
   */
  redeliverFirstMs?: number;
  /** Longest delay between two attempts of a handler, in milliseconds. Default 60 000. */
  redeliverMaxMs?: number;
}

/** The bus over NATS. */
export interface NatsEventBus extends EventBus {
  /** The reason why nothing can be published at the moment; null when there is a connection. */
  trouble(): string | null;
}

/**
 * The bus over NATS JetStream, 2.9 or newer. It returns at once and connects in the background, for
 * ever. Without a connection `publish` fails at once, and subscriptions begin when there is one.
 * Missing streams and consumers are created. Existing ones keep their configuration, and the log
 * reports differences.
 */
export function createNatsEventBus(options: NatsEventBusOptions): NatsEventBus {
  const {
    logger,
    metricsRegistry,
    ackWaitMs = ACK_WAIT_MS,
    redeliverFirstMs = 250,
    redeliverMaxMs = 60_000,
  } = options;
  const stream: NatsStreamOptions = {
    replicas: options.replicas ?? 1,
    maxAgeMs: options.maxAgeMs ?? STREAM_MAX_AGE_MS,
  };
  const link = createNatsLink(options);
  const tellDeviations = createDeviationLog(logger);
  const subscriptions = new Set<Subscription>();
  let closed = false;

  return {
    async publish(events) {
      const failures = await publishOverNats({ link, stream, tellDeviations }, events);
      if (failures.length > 0) throw new PublishError(failures);
    },
    async subscribe(subscribeOptions: SubscribeOptions): Promise<Subscription> {
      if (closed) throw new Error("The bus is closed.");
      const delivery = { ackWaitMs, redeliverFirstMs, redeliverMaxMs };
      const running = subscribeOverNats(
        { link, stream, logger, delivery, tellDeviations, metricsRegistry },
        subscribeOptions,
      );
      const subscription = {
        async close() {
          subscriptions.delete(subscription);
          await running.close();
        },
      };
      subscriptions.add(subscription);
      return subscription;
    },
    trouble: () =>
      link.current() === null ? "NATS cannot be reached: events wait in the outbox" : null,
    async close() {
      closed = true;
      await Promise.all([...subscriptions].map((subscription) => subscription.close()));
      await link.close();
    },
  };
}
