import { loop } from "@workflow/async";
import { gaugeIn } from "@workflow/service";
import type { Registry } from "prom-client";
import type { SubscribeOptions } from "./event-bus.ts";
import type { EventsLogger } from "./logger.ts";
import type { NatsLink } from "./nats-link.ts";

/** How often the server is asked, however often the metric is read. */
const INTERVAL_MS = 5_000;

/** Measures how far a consumer is behind its stream, until the signal. Never rejects. */
export async function watchConsumer(
  bus: { link: NatsLink; logger: EventsLogger; metricsRegistry: Registry | undefined },
  { stream, consumer }: SubscribeOptions,
  signal: AbortSignal,
): Promise<void> {
  if (bus.metricsRegistry === undefined) return;
  const { waiting, unacknowledged } = consumerGauges(bus.metricsRegistry);
  const run = async (): Promise<void> => {
    try {
      const session = await bus.link.session(signal);
      if (session === null) return;
      const manager = await session.connection.jetstreamManager();
      const info = await manager.consumers.info(stream, consumer);
      waiting.set({ stream, consumer }, info.num_pending);
      unacknowledged.set({ stream, consumer }, info.num_ack_pending);
    } catch (err) {
      // An unknown value is better absent than old.
      waiting.remove({ stream, consumer });
      unacknowledged.remove({ stream, consumer });
      bus.logger.debug({ stream, consumer, err }, "a consumer could not be measured");
    }
  };
  const name = `measure-consumer ${stream} ${consumer}`;
  await loop({ name, signal, intervalMs: INTERVAL_MS, logger: bus.logger, run }).done;
}

function consumerGauges(registry: Registry) {
  const labelNames = ["stream", "consumer"] as const;
  return {
    waiting: gaugeIn(registry, {
      name: "nats_consumer_waiting_events",
      help: "Events of the stream that the consumer has not been given yet; the same in each process of a service.",
      labelNames,
    }),
    unacknowledged: gaugeIn(registry, {
      name: "nats_consumer_unacknowledged_events",
      help: "Events under way to the consumer or waiting for its next try; the same in each process of a service.",
      labelNames,
    }),
  };
}
