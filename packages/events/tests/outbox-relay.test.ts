import { describe, expect, it } from "@jest/globals";
import { newUuid, openDatabase, sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { createInProcessEventBus, eventEnvelopeSchema, insertEvents } from "../src/index.ts";
import { idsOf } from "./support/events.ts";
import { readOutbox } from "./support/outbox-database.ts";
import { createRecordingBus } from "./support/recording-bus.ts";
import { newEvents, useOutbox } from "./support/relayed-outbox.ts";

const outbox = useOutbox();

describe("writing into the outbox", () => {
  it("keeps the order given and what each event says", async () => {
    const companyId = newUuid();
    const timestamp = new Date("2026-01-02T03:04:05.678Z");
    const data: unknown = JSON.parse(`{"__proto__": 1, "text": "\\u0000\\ud800 'quoted\\\\\\""}`);
    const ids = await insertEvents(outbox.database, outbox.schema, [
      ...newEvents(500),
      { type: "thing.ended", companyId, requestId: "req-1", timestamp, data: { data } },
    ]);
    expect(idsOf(await readOutbox(outbox.database, outbox.schema))).toEqual(ids);

    const bus = createRecordingBus();
    await outbox.startRelay(bus).drained();
    const last = bus.published.at(-1);
    expect(last).toMatchObject({ id: ids.at(-1), stream: outbox.schema, type: "thing.ended" });
    const envelope = eventEnvelopeSchema.parse(JSON.parse(last?.body ?? ""));
    expect(envelope).toMatchObject({ companyId, requestId: "req-1", type: "thing.ended" });
    expect(envelope.timestamp).toBe("2026-01-02T03:04:05.678Z");
    expect(JSON.stringify(envelope.data)).toBe(JSON.stringify({ data }));
  });

  it("refuses a type that would not be safe in a subject, and writes nothing", async () => {
    for (const type of ["thing.*", "thing happened", "", "a..b", ">", "Thing"]) {
      const [event] = newEvents(1);
      const bad = { ...event, type, companyId: newUuid(), data: {} };
      await expect(insertEvents(outbox.database, outbox.schema, [bad])).rejects.toThrow();
    }
    expect(await readOutbox(outbox.database, outbox.schema)).toEqual([]);
  });

  it("publishes nothing of a transaction that was rolled back", async () => {
    const rolledBack = outbox.database.transaction(async (tx) => {
      await insertEvents(tx, outbox.schema, newEvents(3));
      throw new Error("changed my mind");
    });
    await expect(rolledBack).rejects.toThrow("changed my mind");
    const ids = await insertEvents(outbox.database, outbox.schema, newEvents(1));
    const bus = createRecordingBus();
    await outbox.startRelay(bus).drained();
    expect(idsOf(bus.published)).toEqual(ids);
  });
});

describe("the relay", () => {
  it("publishes every event once, in order, and keeps none of them", async () => {
    const ids = await insertEvents(outbox.database, outbox.schema, newEvents(1_234));
    const bus = createRecordingBus();
    await outbox.startRelay(bus, { batchSize: 100 }).drained();
    expect(idsOf(bus.published)).toEqual(ids);
    const states = await outbox.statesOf(ids);
    expect(new Set(states)).toEqual(new Set(["absent"]));
  });

  it("publishes without being woken", async () => {
    const bus = createRecordingBus();
    await outbox.startRelay(bus).drained();
    const ids = await insertEvents(outbox.database, outbox.schema, newEvents(1));
    await waitFor(() => bus.published.length === 1);
    expect(idsOf(bus.published)).toEqual(ids);
  });

  it("publishes soon after a wake, whatever the idle interval", async () => {
    const bus = createRecordingBus();
    const relay = outbox.startRelay(bus, { idleIntervalMs: 3_600_000 });
    await relay.drained();
    await insertEvents(outbox.database, outbox.schema, newEvents(1));
    relay.wake();
    await waitFor(() => bus.published.length === 1);
  });

  it("does not lose the events of a transaction that commits late", async () => {
    const bus = createRecordingBus();
    const { promise: mayCommit, resolve: letCommit } = Promise.withResolvers<void>();
    const { promise: inserted, resolve: tellInserted } = Promise.withResolvers<string[]>();
    const late = outbox.database.transaction(async (tx) => {
      tellInserted(await insertEvents(tx, outbox.schema, newEvents(1)));
      await mayCommit;
    });
    const lateIds = await inserted;
    const earlyIds = await insertEvents(outbox.database, outbox.schema, newEvents(1));
    const relay = outbox.startRelay(bus);
    await relay.drained();
    expect(idsOf(bus.published)).toEqual(earlyIds);

    letCommit();
    await late;
    await relay.drained();
    expect(idsOf(bus.published)).toEqual([...earlyIds, ...lateIds]);
  });

  it("publishes each event once and in order with several relays on one outbox", async () => {
    const bus = createRecordingBus();
    const others = await Promise.all(
      [1, 2].map(() =>
        openDatabase({ connectionUri: outbox.connectionUri, applicationName: "other-process" }),
      ),
    );
    const all = [outbox.database, ...others].map((database) =>
      outbox.startRelay(bus, { database, batchSize: 20 }),
    );
    const ids: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      ids.push(...(await insertEvents(outbox.database, outbox.schema, newEvents(10))));
      for (const relay of all) relay.wake();
    }
    await Promise.all(all.map((relay) => relay.drained()));
    await outbox.stopRelays();
    await Promise.all(others.map((database) => database.end()));
    expect(idsOf(bus.published)).toEqual(ids);
  });

  it("reads a backlog of events that pack well in pieces that fit the memory", async () => {
    const sizes: number[] = [];
    const bus = createRecordingBus(async (events) => {
      sizes.push(events.reduce((sum, { body }) => sum + body.length, 0));
    });
    const blank = newEvents(80).map((event) => ({ ...event, data: { text: "x".repeat(1e6) } }));
    for (let from = 0; from < blank.length; from += 20) {
      await insertEvents(outbox.database, outbox.schema, blank.slice(from, from + 20));
    }
    const relay = outbox.startRelay(bus);
    await relay.drained();
    expect(bus.published).toHaveLength(80);
    expect(Math.max(...sizes)).toBeLessThan(60e6);
  });

  it("purges what an earlier version has marked as published and nothing else", async () => {
    const [unpublished = ""] = await insertEvents(outbox.database, outbox.schema, newEvents(1));
    const old = await insertEvents(outbox.database, outbox.schema, newEvents(4_500));
    const young = await insertEvents(outbox.database, outbox.schema, newEvents(3));
    await outbox.database.query(sql.type(z.object({}))`
      update ${sql.identifier([outbox.schema, "outbox"])}
      set published_at = now()
      where id = any(${sql.array(old, "text")})
    `);
    const bus = createRecordingBus(async (events) => {
      if (events.some(({ id }) => id === unpublished)) throw new Error("not this one");
    });
    outbox.startRelay(bus, { purgeIntervalMs: 3_600_000 });
    await waitFor(async () => (await readOutbox(outbox.database, outbox.schema)).length <= 4);
    expect(await outbox.statesOf([unpublished, ...young])).toEqual(Array(4).fill("unpublished"));
  });

  it("finishes the batch under way when it is stopped, and begins no other", async () => {
    const { promise: mayEnd, resolve: letItEnd } = Promise.withResolvers<void>();
    let calls = 0;
    const bus = createRecordingBus(async () => {
      calls += 1;
      await mayEnd;
    });
    const ids = await insertEvents(outbox.database, outbox.schema, newEvents(4));
    const relay = outbox.startRelay(bus, { batchSize: 2 });
    await waitFor(() => calls === 1);
    const stopped = relay.stop();
    letItEnd();
    await stopped;
    expect(await outbox.statesOf(ids)).toEqual(["absent", "absent", "unpublished", "unpublished"]);
    await expect(relay.drained()).rejects.toThrow("stopped");
  });

  it("lets handlers of the in-process bus use the database", async () => {
    const bus = createInProcessEventBus({ consumers: {} });
    const followUps: string[] = [];
    await bus.subscribe({
      consumer: "writer",
      stream: outbox.schema,
      types: ["thing.happened"],
      handler: async ({ companyId }) => {
        await outbox.database.transaction(async (tx) => {
          const event = { type: "thing.noticed", companyId, data: {} };
          followUps.push(...(await insertEvents(tx, outbox.schema, [event])));
        });
      },
    });
    const ids = await insertEvents(outbox.database, outbox.schema, newEvents(20));
    await outbox.startRelay(bus).drained();
    expect(followUps).toHaveLength(20);
    expect(new Set(await outbox.statesOf([...ids, ...followUps]))).toEqual(new Set(["absent"]));
    await bus.close();
  });

  it("keeps events in the outbox until the consumers of the in-process bus are there", async () => {
    const bus = createInProcessEventBus({ consumers: { [outbox.schema]: ["early", "late"] } });
    const got = { early: new Array<string>(), late: new Array<string>() };
    const subscribe = (consumer: "early" | "late") =>
      bus.subscribe({
        consumer,
        stream: outbox.schema,
        handler: async ({ id }) => void got[consumer].push(id),
      });
    await subscribe("early");
    const ids = await insertEvents(outbox.database, outbox.schema, newEvents(3));
    const relay = outbox.startRelay(bus);
    await expect(
      bus.publish([{ id: "evt_x", stream: outbox.schema, type: "thing.x", body: "{}" }]),
    ).rejects.toThrow("late");
    expect(await outbox.statesOf(ids)).toEqual(["unpublished", "unpublished", "unpublished"]);
    await subscribe("late");
    await relay.drained();
    expect(got).toEqual({ early: ids, late: ids });
    await bus.close();
  });
});

describe("an outbox that feeds several streams", () => {
  it("publishes each event on its own stream, in the order of that stream", async () => {
    const ids = { [outbox.schema]: new Array<string>(), audit: new Array<string>() };
    for (let round = 0; round < 20; round += 1) {
      for (const [stream, of] of Object.entries(ids)) {
        of.push(...(await insertEvents(outbox.database, outbox.schema, newEvents(3), stream)));
      }
    }
    const bus = createRecordingBus();
    const both = Object.keys(ids).map((stream) => outbox.startRelay(bus, { stream, batchSize: 7 }));
    await Promise.all(both.map((relay) => relay.drained()));
    for (const [stream, of] of Object.entries(ids)) {
      expect(idsOf(bus.published.filter((event) => event.stream === stream))).toEqual(of);
    }
  });
});
