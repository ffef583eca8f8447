import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { freePort, waitFor } from "@workflow/testkit";
import type { NatsConnection } from "nats";
import { connect, RetentionPolicy, StorageType } from "nats";
import type { EventBus, EventEnvelope, NatsEventBusOptions } from "../src/index.ts";
import { createNatsEventBus, PublishError } from "../src/index.ts";
import {
  idsOf,
  makeEvent,
  makeEvents,
  newStreamName,
  publishUntilDurable,
  silentLogger,
} from "./support/events.ts";
import type { RestartableNats } from "./support/nats-server.ts";
import { createRestartableNats } from "./support/nats-server.ts";

let nats: RestartableNats;
let buses: EventBus[];
let stream: string;
beforeAll(async () => {
  nats = await createRestartableNats();
  nats.start();
  await waitFor(() => withAdmin(async (connection) => void (await connection.jetstreamManager())));
});
afterAll(async () => {
  await nats.remove();
});
beforeEach(() => {
  buses = [];
  stream = newStreamName();
});
afterEach(async () => {
  await Promise.all(buses.map((bus) => bus.close()));
});

function openBus(options: Partial<NatsEventBusOptions> = {}): EventBus {
  const bus = createNatsEventBus({
    servers: nats.url,
    name: "nats-test",
    logger: silentLogger,
    redeliverFirstMs: 20,
    ...options,
  });
  buses.push(bus);
  return bus;
}

async function withAdmin<T>(use: (connection: NatsConnection) => Promise<T>): Promise<T> {
  const connection = await connect({ servers: nats.url });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

describe("the NATS bus", () => {
  it("makes a stream that keeps events on disk until they are old", async () => {
    const event = makeEvent(stream);
    await publishUntilDurable(openBus(), [event]);
    const info = await withAdmin(async (connection) =>
      (await connection.jetstreamManager()).streams.info(stream),
    );
    expect(info.config).toMatchObject({
      subjects: [`${stream}.>`],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      discard: "new",
      num_replicas: 1,
    });
    expect(info.state.messages).toBe(1);
  });

  it("leaves an existing stream as its operator made it", async () => {
    const subjects = [`${stream}.>`];
    const config = await withAdmin(async (connection) => {
      const manager = await connection.jetstreamManager();
      await manager.streams.add({ name: stream, subjects, storage: StorageType.Memory });
      await publishUntilDurable(openBus(), [makeEvent(stream)]);
      return (await manager.streams.info(stream)).config;
    });
    expect(config.storage).toBe(StorageType.Memory);
  });

  it("says at once that nothing is published while no server is there", async () => {
    const bus = openBus({ servers: `nats://127.0.0.1:${await freePort()}` });
    const events = makeEvents(stream, 2);
    const error: unknown = await bus.publish(events).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PublishError);
    expect(error).toMatchObject({
      failures: events.map(({ id }) => ({ id, kind: "unavailable" })),
    });
  });

  it("survives kill -9 of the server: nothing confirmed is lost, and it goes on by itself", async () => {
    const bus = openBus();
    const got = new Set<string>();
    const events = makeEvents(stream, 400);
    await publishUntilDurable(bus, events.slice(0, 100));
    await nats.kill();
    const rest = publishUntilDurable(bus, events.slice(100));
    await bus.subscribe({
      consumer: "survivor",
      stream,
      handler: async ({ id }) => void got.add(id),
    });
    nats.start();
    await rest;
    await waitFor(() => got.size === 400, { timeoutMs: 60_000 });
    expect([...got].sort()).toEqual(idsOf(events).sort());

    // Once more with a consumer that was already at work.
    await nats.kill();
    nats.start();
    const last = makeEvent(stream);
    await publishUntilDurable(bus, [last]);
    await waitFor(() => got.has(last.id), { timeoutMs: 60_000 });
  });

  it("makes streams and consumers again by itself when the server has lost its store", async () => {
    const [publisher, consumer] = [openBus(), openBus()];
    const got = new Set<string>();
    const handler = async ({ id }: EventEnvelope): Promise<void> => void got.add(id);
    await consumer.subscribe({ stream, consumer: "restored", handler });
    const before = makeEvents(stream, 10);
    await publishUntilDurable(publisher, before);
    await waitFor(() => got.size === 10);
    await nats.kill();
    await nats.loseStore();
    const meanwhile = makeEvents(stream, 10);
    const publishing = publishUntilDurable(publisher, meanwhile);
    nats.start();
    await publishing;
    const after = makeEvents(stream, 10);
    await publishUntilDurable(publisher, after);
    await waitFor(() => got.size === 30);
    expect([...got].toSorted()).toEqual(idsOf([...before, ...meanwhile, ...after]).toSorted());
  });

  it("refuses only the event that the server would never take", async () => {
    const bus = openBus();
    const noise = randomBytes(2 * 1024 * 1024).toString("base64");
    const [first, last] = makeEvents(stream, 2);
    const poison = makeEvent(stream, { noise });
    const events = [first, poison, last].filter((event) => event !== undefined);
    const got: string[] = [];
    await bus.subscribe({
      consumer: "reader",
      stream,
      handler: async ({ id }) => void got.push(id),
    });
    const failures = await waitFor(async () => {
      const error: unknown = await bus.publish(events).catch((reason: unknown) => reason);
      const listed = error instanceof PublishError ? error.failures : [];
      return listed.every(({ kind }) => kind === "refused") ? listed : null;
    });
    expect(failures.map(({ id }) => id)).toEqual([poison.id]);
    await waitFor(() => got.length === 2);
    expect(got.toSorted()).toEqual(idsOf(events.filter((event) => event !== poison)).sort());
  });

  it("carries an event of a run's biggest output when it compresses (D4)", async () => {
    const bus = openBus();
    const sizes: number[] = [];
    await bus.subscribe({
      consumer: "reader",
      stream,
      handler: async ({ data }) => void sizes.push(JSON.stringify(data).length),
    });
    const data = {
      rows: Array.from({ length: 200_000 }, (_, id) => ({ id, name: "a name of it" })),
    };
    await publishUntilDurable(bus, [makeEvent(stream, data)]);
    await waitFor(() => sizes.length === 1);
    expect(sizes).toEqual([JSON.stringify(data).length]);
  });

  it("hands out again what a consumer had when it died", async () => {
    const dying = openBus({ ackWaitMs: 500 });
    let began = false;
    const { promise: mayEnd, resolve: letItEnd } = Promise.withResolvers<void>();
    await dying.subscribe({
      consumer: "mortal",
      stream,
      handler: async () => {
        began = true;
        await mayEnd;
        throw new Error("not acknowledged");
      },
    });
    const event = makeEvent(stream);
    await publishUntilDurable(dying, [event]);
    await waitFor(() => began);
    const got: string[] = [];
    await openBus().subscribe({
      consumer: "mortal",
      stream,
      handler: async ({ id }) => void got.push(id),
    });
    letItEnd();
    await waitFor(() => got.length === 1);
    expect(got).toEqual([event.id]);
  });

  it("does not hand an event to another while its handler is still at work", async () => {
    // Longer than a busy machine lets the process wait for its turn.
    const bus = openBus({ ackWaitMs: 3_000 });
    let calls = 0;
    let done = false;
    await bus.subscribe({
      consumer: "thorough",
      stream,
      handler: async () => {
        calls += 1;
        // Several times the server's patience.
        await new Promise((resolve) => setTimeout(resolve, 8_000));
        done = true;
      },
    });
    await publishUntilDurable(bus, [makeEvent(stream)]);
    await waitFor(() => done);
    expect(calls).toBe(1);
  });

  it("registers a consumer again that was deleted", async () => {
    const bus = openBus();
    const got: string[] = [];
    await bus.subscribe({
      consumer: "phoenix",
      stream,
      handler: async ({ id }) => void got.push(id),
    });
    const [first, second] = [makeEvent(stream), makeEvent(stream)];
    await publishUntilDurable(bus, [first]);
    await waitFor(() => got.includes(first.id));
    await withAdmin(async (connection) => {
      await (await connection.jetstreamManager()).consumers.delete(stream, "phoenix");
    });
    await publishUntilDurable(bus, [second]);
    await waitFor(() => got.includes(second.id), { timeoutMs: 60_000 });
  });

  it("leaves out a foreign message and goes on", async () => {
    const bus = openBus();
    await publishUntilDurable(bus, [makeEvent(stream)]);
    await withAdmin(async (connection) => {
      await connection.jetstream().publish(`${stream}.thing.happened`, "no envelope");
    });
    const last = makeEvent(stream);
    await publishUntilDurable(bus, [last]);
    const got: string[] = [];
    await bus.subscribe({
      consumer: "reader",
      stream,
      handler: async ({ id }) => void got.push(id),
    });
    await waitFor(() => got.includes(last.id));
    expect(got).toHaveLength(2);
  });

  it("closes while it looks for a server that is not there", async () => {
    const bus = openBus({ servers: `nats://127.0.0.1:${await freePort()}` });
    const subscription = await bus.subscribe({ consumer: "idle", stream, handler: async () => {} });
    await subscription.close();
    await expect(bus.close()).resolves.toBeUndefined();
  });

  it("closes a subscription at whatever moment of its beginning", async () => {
    const bus = openBus();
    await publishUntilDurable(bus, [makeEvent(stream)]);
    const closings = Array.from({ length: 200 }, async (_, tick) => {
      const consumer = `reader-${tick}`;
      const subscription = await bus.subscribe({ consumer, stream, handler: async () => {} });
      // The moment is counted in turns of the event loop: each stands between two answers of the server.
      for (let turn = 0; turn < tick; turn += 1) await setImmediate();
      await subscription.close();
    });
    await expect(Promise.all(closings)).resolves.toHaveLength(200);
  });
});
