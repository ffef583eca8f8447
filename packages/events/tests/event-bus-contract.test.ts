import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { LocalNats } from "@workflow/testkit";
import { startLocalNats, waitFor } from "@workflow/testkit";
import type { EventBus, EventEnvelope } from "../src/index.ts";
import { createInProcessEventBus, createNatsEventBus, PublishError } from "../src/index.ts";
import {
  idsOf,
  makeEvent,
  makeEvents,
  newStreamName,
  publishUntilDurable,
  silentLogger,
} from "./support/events.ts";

let nats: LocalNats;
beforeAll(async () => {
  nats = await startLocalNats();
});
afterAll(async () => {
  await nats.stop();
});

const adapters = [
  { adapter: "in-process", open: () => createInProcessEventBus({ consumers: {} }) },
  {
    adapter: "nats",
    open: () =>
      createNatsEventBus({
        servers: nats.url,
        name: "contract",
        logger: silentLogger,
        redeliverFirstMs: 20,
      }),
  },
];

describe.each(adapters)("the $adapter bus", ({ open }) => {
  let bus: EventBus;
  let stream: string;
  beforeEach(() => {
    bus = open();
    stream = newStreamName();
  });
  afterEach(async () => {
    await bus.close();
  });

  /** Subscribes a handler that does nothing but remember. */
  const collect = async (consumer: string, maxInFlight = 16): Promise<EventEnvelope[]> => {
    const got: EventEnvelope[] = [];
    await bus.subscribe({
      consumer,
      stream,
      maxInFlight,
      handler: async (event) => void got.push(event),
    });
    return got;
  };

  it("gives every event to each of two consumers", async () => {
    const first = await collect("first");
    const second = await collect("second");
    const events = makeEvents(stream, 50);
    await publishUntilDurable(bus, events);
    await waitFor(() => first.length >= 50 && second.length >= 50);
    expect(idsOf(first).sort()).toEqual(idsOf(events).sort());
    expect(idsOf(second).sort()).toEqual(idsOf(events).sort());
  });

  it("hands over the envelope as it was published", async () => {
    const got = await collect("reader");
    const data: unknown = JSON.parse(
      `{"__proto__": {"x": 1}, "text": "ä\\u0000\\ud800 🎈", "nested": [null, {"n": 1.5}]}`,
    );
    const event = makeEvent(stream, { data, big: "x".repeat(200_000) });
    await publishUntilDurable(bus, [event]);
    await waitFor(() => got.length === 1);
    expect(JSON.stringify(got[0])).toBe(event.body);
  });

  it("keeps the order of publication for a consumer that handles one event at a time", async () => {
    const got = await collect("ordered", 1);
    const events = makeEvents(stream, 300);
    await publishUntilDurable(bus, events.slice(0, 120));
    await publishUntilDurable(bus, events.slice(120));
    await waitFor(() => got.length >= 300);
    expect(idsOf(got)).toEqual(idsOf(events));
  });

  it("brings an event whose handler threw again, to that consumer only", async () => {
    const other = await collect("other");
    const [bad, ...good] = makeEvents(stream, 10);
    const got: string[] = [];
    let attempts = 0;
    const handler = async ({ id }: EventEnvelope): Promise<void> => {
      if (id === bad?.id && ++attempts < 3) throw new Error("not yet");
      got.push(id);
    };
    await bus.subscribe({ consumer: "flaky", stream, handler });
    await publishUntilDurable(bus, bad === undefined ? [] : [bad, ...good]);
    await waitFor(() => got.length >= 10 && other.length >= 10);
    expect(attempts).toBe(3);
    expect(got.toSorted()).toEqual(idsOf([...good, ...(bad ? [bad] : [])]).sort());
    expect(other).toHaveLength(10);
  });

  it("gives a consumer what was published while it was away", async () => {
    const seen: string[] = [];
    const subscription = await bus.subscribe({
      consumer: "wanderer",
      stream,
      handler: async ({ id }) => void seen.push(id),
    });
    const before = makeEvents(stream, 5);
    await publishUntilDurable(bus, before);
    await waitFor(() => seen.length === 5);
    await subscription.close();

    const meanwhile = makeEvents(stream, 5);
    const publishing = publishUntilDurable(bus, meanwhile);
    const got = await collect("wanderer");
    await publishing;
    await waitFor(() => got.length >= 5);
    expect(idsOf(got).sort()).toEqual(idsOf(meanwhile).sort());
    expect(seen).toHaveLength(5);
  });

  it("leaves out an event that is published again", async () => {
    const got = await collect("once");
    const events = makeEvents(stream, 3);
    await publishUntilDurable(bus, events);
    await publishUntilDurable(bus, events);
    const last = makeEvent(stream);
    await publishUntilDurable(bus, [last]);
    await waitFor(() => got.some(({ id }) => id === last.id));
    expect(idsOf(got).sort()).toEqual(idsOf([...events, last]).sort());
  });

  it("runs at most maxInFlight handlers at once and loses nothing to a slow consumer", async () => {
    const got: string[] = [];
    let running = 0;
    let most = 0;
    await bus.subscribe({
      consumer: "slow",
      stream,
      maxInFlight: 4,
      handler: async ({ id }) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running -= 1;
        got.push(id);
      },
    });
    const events = makeEvents(stream, 100);
    await publishUntilDurable(bus, events);
    await waitFor(() => got.length >= 100);
    expect(got.toSorted()).toEqual(idsOf(events).sort());
    expect(most).toBe(4);
  });

  it("gives a consumer only the types that it asks for", async () => {
    const got: string[] = [];
    await bus.subscribe({
      consumer: "picky",
      stream,
      types: ["thing.wanted", "thing.last"],
      handler: async ({ type }) => void got.push(type),
    });
    const types = ["thing.wanted", "thing.other", "thing.wanted", "thing.last"];
    for (const type of types) await publishUntilDurable(bus, [makeEvent(stream, {}, type)]);
    await waitFor(() => got.includes("thing.last"));
    expect(got.toSorted()).toEqual(["thing.last", "thing.wanted", "thing.wanted"]);
  });

  it("shares the events among the subscriptions of one consumer", async () => {
    const [one, two] = [await collect("shared", 2), await collect("shared", 2)];
    const events = makeEvents(stream, 60);
    await publishUntilDurable(bus, events);
    await waitFor(() => one.length + two.length >= 60);
    expect(idsOf([...one, ...two]).sort()).toEqual(idsOf(events).sort());
  });

  it("waits on closing a subscription for the handler that runs", async () => {
    const { promise: mayEnd, resolve: letItEnd } = Promise.withResolvers<void>();
    let state = "waiting";
    const subscription = await bus.subscribe({
      consumer: "closing",
      stream,
      handler: async () => {
        state = "running";
        await mayEnd;
        state = "done";
      },
    });
    const publishing = publishUntilDurable(bus, [makeEvent(stream)]);
    await waitFor(() => state === "running");
    const closing = subscription.close().then(() => state);
    letItEnd();
    expect(await closing).toBe("done");
    await publishing;
  });

  it("ends a subscription with its signal", async () => {
    const stopping = new AbortController();
    const got: string[] = [];
    const subscription = await bus.subscribe({
      consumer: "aborted",
      stream,
      signal: stopping.signal,
      handler: async ({ id }) => void got.push(id),
    });
    await publishUntilDurable(bus, [makeEvent(stream)]);
    await waitFor(() => got.length === 1);
    stopping.abort();
    await subscription.close();
    const successor = await collect("aborted");
    const next = makeEvent(stream);
    await publishUntilDurable(bus, [next]);
    await waitFor(() => successor.length === 1);
    expect(got).toHaveLength(1);
    expect(idsOf(successor)).toEqual([next.id]);
  });

  it("tells after its end that nothing was published", async () => {
    await bus.close();
    const event = makeEvent(stream);
    const error: unknown = await bus.publish([event]).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PublishError);
    expect(error).toMatchObject({ failures: [{ id: event.id, kind: "unavailable" }] });
  });
});
