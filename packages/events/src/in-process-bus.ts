import type {
  EventBus,
  PublishedEvent,
  PublishFailure,
  SubscribeOptions,
  Subscription,
} from "./event-bus.ts";
import { PublishError, unavailable } from "./event-bus.ts";
import type { InProcessConsumer } from "./in-process-consumer.ts";
import { createInProcessConsumer } from "./in-process-consumer.ts";

export interface InProcessEventBusOptions {
  /**
   * The durable consumers of each stream, such as `{ runs: ["webhooks"] }`. Nothing is published on a
   * stream before all of them have subscribed, nor while one is away. Events wait in the outbox, so
   * those made while the services start are not lost. Consumers not named here count from their first
   * subscription.
   */
  consumers: Readonly<Record<string, readonly string[]>>;
}

/**
 * The bus of a single process. `publish` resolves when every consumer's handler has. If a handler
 * throws, only that event fails. The relay's next attempt delivers it again, to the consumers that have
 * not handled it yet.
 */
export function createInProcessEventBus(options: InProcessEventBusOptions): EventBus {
  const streams = new Map<string, Map<string, InProcessConsumer>>();
  let closed = false;

  const consumersOf = (stream: string): Map<string, InProcessConsumer> => {
    const known = streams.get(stream);
    if (known !== undefined) return known;
    const names = options.consumers[stream] ?? [];
    const consumers = new Map(names.map((name) => [name, createInProcessConsumer(name)]));
    streams.set(stream, consumers);
    return consumers;
  };

  return {
    async publish(events) {
      if (closed) throw new PublishError(unavailable(events, new Error("The bus is closed.")));
      const groups = [...Map.groupBy(events, ({ stream }) => stream)];
      const failures = await Promise.all(
        groups.map(([stream, group]) => deliverToAll([...consumersOf(stream).values()], group)),
      );
      if (failures.flat().length > 0) throw new PublishError(failures.flat());
    },
    async subscribe(subscribeOptions: SubscribeOptions): Promise<Subscription> {
      if (closed) throw new Error("The bus is closed.");
      const { stream, consumer: name } = subscribeOptions;
      const consumers = consumersOf(stream);
      const consumer = consumers.get(name) ?? createInProcessConsumer(name);
      consumers.set(name, consumer);
      return consumer.subscribe(subscribeOptions);
    },
    async close() {
      closed = true;
      const all = [...streams.values()].flatMap((consumers) => [...consumers.values()]);
      await Promise.all(all.map((consumer) => consumer.close()));
    },
  };
}

async function deliverToAll(
  consumers: readonly InProcessConsumer[],
  events: readonly PublishedEvent[],
): Promise<PublishFailure[]> {
  const away = consumers.find((consumer) => !consumer.isPresent());
  if (away !== undefined) {
    return unavailable(events, new Error(`The consumer ${away.name} is not there.`));
  }
  const failures = await Promise.all(consumers.map((consumer) => consumer.deliver(events)));
  // One consumer's failure fails the event. The first failure is reported.
  return [...new Map(failures.flat().map((failure) => [failure.id, failure])).values()];
}
