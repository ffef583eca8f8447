import { describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import type { EventBus } from "../src/index.ts";
import { insertEvents, PublishError } from "../src/index.ts";
import { idsOf } from "./support/events.ts";
import { killIdleTransactions, readOutbox } from "./support/outbox-database.ts";
import { createRecordingBus } from "./support/recording-bus.ts";
import { newEvents, useOutbox } from "./support/relayed-outbox.ts";

const outbox = useOutbox();

describe("the relay", () => {
  it("publishes again what it could not delete before it died", async () => {
    const ids = await insertEvents(outbox.database, outbox.schema, newEvents(5));
    let killed = 0;
    const bus = createRecordingBus();
    const dying = createRecordingBus(async () => {
      // The bus has the events, and the relay's session dies before the rows are deleted. The session of a purge
      // under way dies as well.
      if (killed === 0) killed = await killIdleTransactions(outbox.database);
    });
    await outbox
      .startRelay({ ...bus, publish: (events) => publishToBoth(bus, dying, events) })
      .drained();
    expect(killed).toBeGreaterThanOrEqual(1);
    expect(idsOf(bus.published)).toEqual([...ids, ...ids]);
    expect(new Set(await outbox.statesOf(ids))).toEqual(new Set(["absent"]));
  });

  it("keeps everything while the bus is away and publishes it when it is back", async () => {
    let away = true;
    let refusals = 0;
    const bus = createRecordingBus(async () => {
      if (!away) return;
      refusals += 1;
      throw new Error("the bus is away");
    });
    const ids = await insertEvents(outbox.database, outbox.schema, newEvents(10));
    const relay = outbox.startRelay(bus);
    await waitFor(() => refusals >= 3);
    expect(new Set(await outbox.statesOf(ids))).toEqual(new Set(["unpublished"]));
    away = false;
    await relay.drained();
    expect(idsOf(bus.published)).toEqual(ids);
  });

  it("takes a bus that never answers for one that is away", async () => {
    let calls = 0;
    const bus = createRecordingBus(async () => {
      calls += 1;
      if (calls === 1) await new Promise(() => {});
    });
    const ids = await insertEvents(outbox.database, outbox.schema, newEvents(2));
    await outbox.startRelay(bus, { publishTimeoutMs: 100 }).drained();
    expect(idsOf(bus.published)).toEqual(ids);
  });

  it("sets an event aside that the bus refuses for ever, and goes on with the others", async () => {
    const ids = await insertEvents(outbox.database, outbox.schema, newEvents(9));
    const poison = ids[3] ?? "";
    const bus = createRecordingBus(async (events) => {
      if (!events.some(({ id }) => id === poison)) return;
      bus.published.push(...events.filter(({ id }) => id !== poison));
      throw new PublishError([{ id: poison, kind: "refused", cause: new Error("too big") }]);
    });
    await outbox.startRelay(bus, { purgeIntervalMs: 20 }).drained();
    expect(idsOf(bus.published)).toEqual(ids.filter((id) => id !== poison));
    // The other rows are gone; the row that was set aside stays for people to see.
    await waitFor(async () => (await readOutbox(outbox.database, outbox.schema)).length === 1);
    expect(await outbox.statesOf([poison])).toEqual(["set aside"]);
  });

  it("is not held up by an event that fails again and again", async () => {
    const [failing = ""] = await insertEvents(outbox.database, outbox.schema, newEvents(1));
    let attempts = 0;
    let healed = false;
    const bus = createRecordingBus(async (events) => {
      if (healed || !events.some(({ id }) => id === failing)) return;
      attempts += 1;
      bus.published.push(...events.filter(({ id }) => id !== failing));
      throw new PublishError([{ id: failing, kind: "failed", cause: new Error("not now") }]);
    });
    const relay = outbox.startRelay(bus, { retryFirstMs: 20, retryMaxMs: 40 });
    await waitFor(() => attempts >= 1);
    const ids = await insertEvents(outbox.database, outbox.schema, newEvents(30));
    relay.wake();
    await waitFor(() => bus.published.length === 30);
    expect(idsOf(bus.published)).toEqual(ids);
    await waitFor(() => attempts >= 3);
    expect(await outbox.statesOf([failing])).toEqual(["unpublished"]);
    healed = true;
    // `drained` does not wait for an event whose next attempt is later.
    await waitFor(() => bus.published.length === 31);
    expect(idsOf(bus.published)).toEqual([...ids, failing]);
  });
});

describe("an outbox that feeds several streams", () => {
  it("goes on with one while nobody takes the other, and loses nothing of that one", async () => {
    let away = true;
    const bus = createRecordingBus(async (events) => {
      if (away && events.some(({ stream }) => stream === "audit")) {
        // The worst consumer never answers.
        await new Promise(() => {});
      }
    });
    const audited = await insertEvents(outbox.database, outbox.schema, newEvents(200), "audit");
    const auditRelay = outbox.startRelay(bus, { stream: "audit", publishTimeoutMs: 200 });
    const relay = outbox.startRelay(bus);
    for (let round = 0; round < 5; round += 1) {
      const ids = await insertEvents(outbox.database, outbox.schema, newEvents(10));
      await relay.drained();
      expect(idsOf(bus.published).slice(-10)).toEqual(ids);
    }
    expect(new Set(await outbox.statesOf(audited))).toEqual(new Set(["unpublished"]));
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
