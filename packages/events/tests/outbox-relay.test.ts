import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid, openDatabase, sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { EventBus, NewEvent, OutboxRelay, OutboxRelayOptions } from "../src/index.ts";
import {
  createInProcessEventBus,
  createOutboxRelay,
  eventEnvelopeSchema,
  insertEvents,
  PublishError,
} from "../src/index.ts";
import { idsOf, silentLogger } from "./support/events.ts";
import type { OutboxDatabase } from "./support/outbox-database.ts";
import {
  createOutboxDatabase,
  killIdleTransactions,
  readOutbox,
} from "./support/outbox-database.ts";
import { createRecordingBus } from "./support/recording-bus.ts";

let outbox: OutboxDatabase;
beforeAll(async () => {
  outbox = await createOutboxDatabase();
});
afterAll(async () => {
  await outbox.close();
});

let schema: string;
let relays: OutboxRelay[];
beforeEach(async () => {
  schema = await outbox.createSchema();
  relays = [];
});
afterEach(async () => {
  await Promise.all(relays.map((relay) => relay.stop()));
});

function startRelay(bus: EventBus, options: Partial<OutboxRelayOptions> = {}): OutboxRelay {
  const relay = createOutboxRelay({
    database: outbox.database,
    schema,
    stream: schema,
    bus,
    logger: silentLogger,
    idleIntervalMs: 50,
    retryFirstMs: 10,
    retryMaxMs: 100,
    ...options,
  });
  relays.push(relay);
  return relay;
}

function newEvents(count: number): NewEvent[] {
  const companyId = newUuid();
  return Array.from({ length: count }, (_, index) => ({
    type: "thing.happened",
    companyId,
    data: { index },
  }));
}

async function statesOf(ids: readonly string[]): Promise<string[]> {
  const rows = await readOutbox(outbox.database, schema);
  return ids.map((id) => rows.find((row) => row.id === id)?.state ?? "absent");
}

describe("writing into the outbox", () => {
  it("keeps the order given and what each event says", async () => {
    const companyId = newUuid();
    const timestamp = new Date("2026-01-02T03:04:05.678Z");
    const data: unknown = JSON.parse(`{"__proto__": 1, "text": "\\u0000\\ud800 'quoted\\\\\\""}`);
    const ids = await insertEvents(outbox.database, schema, [
      ...newEvents(500),
      { type: "thing.ended", companyId, requestId: "req-1", timestamp, data: { data } },
    ]);
    expect(idsOf(await readOutbox(outbox.database, schema))).toEqual(ids);

    const bus = createRecordingBus();
    await startRelay(bus).drained();
    const last = bus.published.at(-1);
    expect(last).toMatchObject({ id: ids.at(-1), stream: schema, type: "thing.ended" });
    const envelope = eventEnvelopeSchema.parse(JSON.parse(last?.body ?? ""));
    expect(envelope).toMatchObject({ companyId, requestId: "req-1", type: "thing.ended" });
    expect(envelope.timestamp).toBe("2026-01-02T03:04:05.678Z");
    expect(JSON.stringify(envelope.data)).toBe(JSON.stringify({ data }));
  });

  it("refuses a type that would not be safe in a subject, and writes nothing", async () => {
    for (const type of ["thing.*", "thing happened", "", "a..b", ">", "Thing"]) {
      const [event] = newEvents(1);
      const bad = { ...event, type, companyId: newUuid(), data: {} };
      await expect(insertEvents(outbox.database, schema, [bad])).rejects.toThrow();
    }
    expect(await readOutbox(outbox.database, schema)).toEqual([]);
  });

  it("publishes nothing of a transaction that was rolled back", async () => {
    const rolledBack = outbox.database.transaction(async (tx) => {
      await insertEvents(tx, schema, newEvents(3));
      throw new Error("changed my mind");
    });
    await expect(rolledBack).rejects.toThrow("changed my mind");
    const ids = await insertEvents(outbox.database, schema, newEvents(1));
    const bus = createRecordingBus();
    await startRelay(bus).drained();
    expect(idsOf(bus.published)).toEqual(ids);
  });
});

describe("the relay", () => {
  it("publishes every event once, in order, and keeps none of them", async () => {
    const ids = await insertEvents(outbox.database, schema, newEvents(1_234));
    const bus = createRecordingBus();
    await startRelay(bus, { batchSize: 100 }).drained();
    expect(idsOf(bus.published)).toEqual(ids);
    const states = await statesOf(ids);
    expect(new Set(states)).toEqual(new Set(["absent"]));
  });

  it("publishes without being woken", async () => {
    const bus = createRecordingBus();
    await startRelay(bus).drained();
    const ids = await insertEvents(outbox.database, schema, newEvents(1));
    await waitFor(() => bus.published.length === 1);
    expect(idsOf(bus.published)).toEqual(ids);
  });

  it("publishes soon after a wake, whatever the idle interval", async () => {
    const bus = createRecordingBus();
    const relay = startRelay(bus, { idleIntervalMs: 3_600_000 });
    await relay.drained();
    await insertEvents(outbox.database, schema, newEvents(1));
    relay.wake();
    await waitFor(() => bus.published.length === 1);
  });

  it("does not lose the events of a transaction that commits late", async () => {
    const bus = createRecordingBus();
    const { promise: mayCommit, resolve: letCommit } = Promise.withResolvers<void>();
    const { promise: inserted, resolve: tellInserted } = Promise.withResolvers<string[]>();
    const late = outbox.database.transaction(async (tx) => {
      tellInserted(await insertEvents(tx, schema, newEvents(1)));
      await mayCommit;
    });
    const lateIds = await inserted;
    const earlyIds = await insertEvents(outbox.database, schema, newEvents(1));
    const relay = startRelay(bus);
    await relay.drained();
    expect(idsOf(bus.published)).toEqual(earlyIds);

    letCommit();
    await late;
    await relay.drained();
    expect(idsOf(bus.published)).toEqual([...earlyIds, ...lateIds]);
  });

  it("publishes again what it could not delete before it died", async () => {
    const ids = await insertEvents(outbox.database, schema, newEvents(5));
    let killed = 0;
    const bus = createRecordingBus();
    const dying = createRecordingBus(async () => {
      // The bus has the events and the relay's session dies before the rows are deleted.
      // So may its purge, when that is at work.
      if (killed === 0) killed = await killIdleTransactions(outbox.database);
    });
    await startRelay({ ...bus, publish: (events) => publishToBoth(bus, dying, events) }).drained();
    expect(killed).toBeGreaterThanOrEqual(1);
    expect(idsOf(bus.published)).toEqual([...ids, ...ids]);
    expect(new Set(await statesOf(ids))).toEqual(new Set(["absent"]));
  });

  it("publishes each event once and in order with several relays on one outbox", async () => {
    const bus = createRecordingBus();
    const others = await Promise.all(
      [1, 2].map(() =>
        openDatabase({ connectionUri: outbox.connectionUri, applicationName: "other-process" }),
      ),
    );
    const all = [outbox.database, ...others].map((database) =>
      startRelay(bus, { database, batchSize: 20 }),
    );
    const ids: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      ids.push(...(await insertEvents(outbox.database, schema, newEvents(10))));
      for (const relay of all) relay.wake();
    }
    await Promise.all(all.map((relay) => relay.drained()));
    await Promise.all(relays.splice(0).map((relay) => relay.stop()));
    await Promise.all(others.map((database) => database.end()));
    expect(idsOf(bus.published)).toEqual(ids);
  });

  it("keeps everything while the bus is away and publishes it when it is back", async () => {
    let away = true;
    let refusals = 0;
    const bus = createRecordingBus(async () => {
      if (!away) return;
      refusals += 1;
      throw new Error("the bus is away");
    });
    const ids = await insertEvents(outbox.database, schema, newEvents(10));
    const relay = startRelay(bus);
    await waitFor(() => refusals >= 3);
    expect(new Set(await statesOf(ids))).toEqual(new Set(["unpublished"]));
    away = false;
    await relay.drained();
    expect(idsOf(bus.published)).toEqual(ids);
  });

  it("reads a backlog of events that pack well in pieces that fit the memory", async () => {
    const sizes: number[] = [];
    const bus = createRecordingBus(async (events) => {
      sizes.push(events.reduce((sum, { body }) => sum + body.length, 0));
    });
    const blank = newEvents(80).map((event) => ({ ...event, data: { text: "x".repeat(1e6) } }));
    for (let from = 0; from < blank.length; from += 20) {
      await insertEvents(outbox.database, schema, blank.slice(from, from + 20));
    }
    const relay = startRelay(bus);
    await relay.drained();
    expect(bus.published).toHaveLength(80);
    expect(Math.max(...sizes)).toBeLessThan(60e6);
  });

  it("takes a bus that never answers for one that is away", async () => {
    let calls = 0;
    const bus = createRecordingBus(async () => {
      calls += 1;
      if (calls === 1) await new Promise(() => {});
    });
    const ids = await insertEvents(outbox.database, schema, newEvents(2));
    await startRelay(bus, { publishTimeoutMs: 100 }).drained();
    expect(idsOf(bus.published)).toEqual(ids);
  });

  it("sets an event aside that the bus refuses for ever, and goes on with the others", async () => {
    const ids = await insertEvents(outbox.database, schema, newEvents(9));
    const poison = ids[3] ?? "";
    const bus = createRecordingBus(async (events) => {
      if (!events.some(({ id }) => id === poison)) return;
      bus.published.push(...events.filter(({ id }) => id !== poison));
      throw new PublishError([{ id: poison, kind: "refused", cause: new Error("too big") }]);
    });
    await startRelay(bus, { purgeIntervalMs: 20 }).drained();
    expect(idsOf(bus.published)).toEqual(ids.filter((id) => id !== poison));
    // The others are gone, the one set aside stays to be looked at.
    await waitFor(async () => (await readOutbox(outbox.database, schema)).length === 1);
    expect(await statesOf([poison])).toEqual(["set aside"]);
  });

  it("is not held up by an event that fails again and again", async () => {
    const [failing = ""] = await insertEvents(outbox.database, schema, newEvents(1));
    let attempts = 0;
    let healed = false;
    const bus = createRecordingBus(async (events) => {
      if (healed || !events.some(({ id }) => id === failing)) return;
      attempts += 1;
      bus.published.push(...events.filter(({ id }) => id !== failing));
      throw new PublishError([{ id: failing, kind: "failed", cause: new Error("not now") }]);
    });
    const relay = startRelay(bus, { retryFirstMs: 20, retryMaxMs: 40 });
    await waitFor(() => attempts >= 1);
    const ids = await insertEvents(outbox.database, schema, newEvents(30));
    relay.wake();
    await waitFor(() => bus.published.length === 30);
    expect(idsOf(bus.published)).toEqual(ids);
    await waitFor(() => attempts >= 3);
    expect(await statesOf([failing])).toEqual(["unpublished"]);
    healed = true;
    // `drained` would not wait for an event that is put off at the moment.
    await waitFor(() => bus.published.length === 31);
    expect(idsOf(bus.published)).toEqual([...ids, failing]);
  });

  it("purges what an earlier version has marked as published and nothing else", async () => {
    const [unpublished = ""] = await insertEvents(outbox.database, schema, newEvents(1));
    const old = await insertEvents(outbox.database, schema, newEvents(4_500));
    const young = await insertEvents(outbox.database, schema, newEvents(3));
    await outbox.database.query(sql.type(z.object({}))`
      update ${sql.identifier([schema, "outbox"])}
      set published_at = now()
      where id = any(${sql.array(old, "text")})
    `);
    const bus = createRecordingBus(async (events) => {
      if (events.some(({ id }) => id === unpublished)) throw new Error("not this one");
    });
    startRelay(bus, { purgeIntervalMs: 3_600_000 });
    await waitFor(async () => (await readOutbox(outbox.database, schema)).length <= 4);
    expect(await statesOf([unpublished, ...young])).toEqual(Array(4).fill("unpublished"));
  });

  it("finishes the batch under way when it is stopped, and begins no other", async () => {
    const { promise: mayEnd, resolve: letItEnd } = Promise.withResolvers<void>();
    let calls = 0;
    const bus = createRecordingBus(async () => {
      calls += 1;
      await mayEnd;
    });
    const ids = await insertEvents(outbox.database, schema, newEvents(4));
    const relay = startRelay(bus, { batchSize: 2 });
    await waitFor(() => calls === 1);
    const stopped = relay.stop();
    letItEnd();
    await stopped;
    expect(await statesOf(ids)).toEqual(["absent", "absent", "unpublished", "unpublished"]);
    await expect(relay.drained()).rejects.toThrow("stopped");
  });

  it("lets handlers of the in-process bus use the database", async () => {
    const bus = createInProcessEventBus({ consumers: {} });
    const followUps: string[] = [];
    await bus.subscribe({
      consumer: "writer",
      stream: schema,
      types: ["thing.happened"],
      handler: async ({ companyId }) => {
        await outbox.database.transaction(async (tx) => {
          const event = { type: "thing.noticed", companyId, data: {} };
          followUps.push(...(await insertEvents(tx, schema, [event])));
        });
      },
    });
    const ids = await insertEvents(outbox.database, schema, newEvents(20));
    await startRelay(bus).drained();
    expect(followUps).toHaveLength(20);
    expect(new Set(await statesOf([...ids, ...followUps]))).toEqual(new Set(["absent"]));
    await bus.close();
  });

  it("keeps events in the outbox until the consumers of the in-process bus are there", async () => {
    const bus = createInProcessEventBus({ consumers: { [schema]: ["early", "late"] } });
    const got = { early: new Array<string>(), late: new Array<string>() };
    const subscribe = (consumer: "early" | "late") =>
      bus.subscribe({
        consumer,
        stream: schema,
        handler: async ({ id }) => void got[consumer].push(id),
      });
    await subscribe("early");
    const ids = await insertEvents(outbox.database, schema, newEvents(3));
    const relay = startRelay(bus);
    await expect(
      bus.publish([{ id: "evt_x", stream: schema, type: "thing.x", body: "{}" }]),
    ).rejects.toThrow("late");
    expect(await statesOf(ids)).toEqual(["unpublished", "unpublished", "unpublished"]);
    await subscribe("late");
    await relay.drained();
    expect(got).toEqual({ early: ids, late: ids });
    await bus.close();
  });
});

describe("an outbox that feeds several streams", () => {
  it("publishes each event on its own stream, in the order of that stream", async () => {
    const ids = { [schema]: new Array<string>(), audit: new Array<string>() };
    for (let round = 0; round < 20; round += 1) {
      for (const [stream, of] of Object.entries(ids)) {
        of.push(...(await insertEvents(outbox.database, schema, newEvents(3), stream)));
      }
    }
    const bus = createRecordingBus();
    const both = Object.keys(ids).map((stream) => startRelay(bus, { stream, batchSize: 7 }));
    await Promise.all(both.map((relay) => relay.drained()));
    for (const [stream, of] of Object.entries(ids)) {
      expect(idsOf(bus.published.filter((event) => event.stream === stream))).toEqual(of);
    }
  });

  it("goes on with one while nobody takes the other, and loses nothing of that one", async () => {
    let away = true;
    const bus = createRecordingBus(async (events) => {
      if (away && events.some(({ stream }) => stream === "audit")) {
        // Not even an answer: the worst that a consumer can do.
        await new Promise(() => {});
      }
    });
    const audited = await insertEvents(outbox.database, schema, newEvents(200), "audit");
    const auditRelay = startRelay(bus, { stream: "audit", publishTimeoutMs: 200 });
    const relay = startRelay(bus);
    for (let round = 0; round < 5; round += 1) {
      const ids = await insertEvents(outbox.database, schema, newEvents(10));
      await relay.drained();
      expect(idsOf(bus.published).slice(-10)).toEqual(ids);
    }
    expect(new Set(await statesOf(audited))).toEqual(new Set(["unpublished"]));
    away = false;
    await auditRelay.drained();
    expect(idsOf(bus.published).slice(-200)).toEqual(audited);
  });
});

/** Hands the events to the first bus for good, then to the second, whose answer counts. */
async function publishToBoth(
  first: EventBus,
  second: EventBus,
  events: Parameters<EventBus["publish"]>[0],
): Promise<void> {
  await first.publish(events);
  await second.publish(events);
}
