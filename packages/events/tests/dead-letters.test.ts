import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { LocalNats } from "@workflow/testkit";
import { startLocalNats, waitFor } from "@workflow/testkit";
import type { NatsConnection } from "nats";
import { connect } from "nats";
import type { DeadLetter, DeadLetters, EventBus, EventEnvelope } from "../src/index.ts";
import {
  createDeadLetters,
  createInProcessEventBus,
  createNatsEventBus,
  deleteDeadLetter,
  listDeadLetters,
  redriveDeadLetters,
} from "../src/index.ts";
import {
  idsOf,
  makeEvent,
  makeEvents,
  newStreamName,
  publishUntilDurable,
  silentLogger,
} from "./support/events.ts";
import type { OutboxDatabase } from "./support/outbox-database.ts";
import { countFailing, createOutboxDatabase } from "./support/outbox-database.ts";

const TRIES = 20;

let nats: LocalNats;
let outbox: OutboxDatabase;
beforeAll(async () => {
  [nats, outbox] = await Promise.all([startLocalNats(), createOutboxDatabase()]);
});
afterAll(async () => {
  await Promise.all([nats.stop(), outbox.close()]);
});

const openNatsBus = (): EventBus =>
  createNatsEventBus({
    servers: nats.url,
    name: "letters",
    logger: silentLogger,
    redeliverFirstMs: 1,
    redeliverMaxMs: 5,
    ackWaitMs: 500,
  });
const adapters = [
  { adapter: "in-process", open: () => createInProcessEventBus({ consumers: {} }) },
  { adapter: "nats", open: openNatsBus },
];

let schema: string;
let stream: string;
let bus: EventBus;
let buses: EventBus[];
beforeEach(async () => {
  schema = await outbox.createSchema();
  stream = newStreamName();
  buses = [];
});
afterEach(async () => {
  await Promise.all(buses.map((each) => each.close()));
});

const letters = (): Promise<readonly DeadLetter[]> => listDeadLetters(outbox.database, schema, 100);
const deadLetters = (): DeadLetters =>
  createDeadLetters({ database: outbox.database, schema, logger: silentLogger, pollEveryMs: 20 });
const opened = (open: () => EventBus): EventBus => {
  const made = open();
  buses.push(made);
  return made;
};

describe.each(adapters)("dead letters of the $adapter bus", ({ open }) => {
  beforeEach(() => {
    bus = opened(open);
  });

  it("keep an event after 20 failures, and let all others pass", async () => {
    const [bad, ...good] = makeEvents(stream, 5);
    if (bad === undefined) throw new Error("There is an event.");
    const got: string[] = [];
    let attempts = 0;
    const handler = async ({ id }: EventEnvelope): Promise<void> => {
      if (id !== bad.id) return void got.push(id);
      attempts += 1;
      throw new Error("cannot be");
    };
    await bus.subscribe({ stream, consumer: "tried", handler, deadLetters: deadLetters() });
    await publishUntilDurable(bus, [bad, ...good]);
    const [letter, ...others] = await waitFor(async () => {
      const found = await letters();
      return found.length > 0 ? found : null;
    });
    expect(others).toEqual([]);
    expect(letter).toMatchObject({
      stream,
      consumer: "tried",
      eventId: bad.id,
      type: "thing.happened",
      attempts: TRIES,
      error: "INTERNAL_ERROR: cannot be",
      bodyBytes: Buffer.byteLength(bad.body),
      hasBody: true,
      isWaiting: false,
    });
    // Whatever comes after it has been handed over after its last try.
    const last = makeEvent(stream);
    await publishUntilDurable(bus, [bad, last]);
    await waitFor(() => got.includes(last.id));
    expect(attempts).toBe(TRIES);
    expect(got.toSorted()).toEqual(idsOf([...good, last]).sort());
  });

  it("do not count what fails because the surroundings are away", async () => {
    const event = makeEvent(stream);
    let attempts = 0;
    const handler = async (): Promise<void> => {
      attempts += 1;
      if (attempts % 2 === 1 && attempts < 12) {
        throw new AppError("UNAVAILABLE", "The service is temporarily unavailable.");
      }
      if (attempts < 12) throw new Error("by itself");
    };
    const store = createDeadLetters({
      database: outbox.database,
      schema,
      logger: silentLogger,
      tries: 6,
    });
    await bus.subscribe({ stream, consumer: "patient", handler, deadLetters: store });
    await publishUntilDurable(bus, [event]);
    await waitFor(() => attempts === 12);
    expect(await letters()).toEqual([]);
  });

  it("forget the failures of an event that was handled after all", async () => {
    const event = makeEvent(stream);
    let attempts = 0;
    const handler = async (): Promise<void> => {
      attempts += 1;
      if (attempts < 3) throw new Error("not yet");
    };
    await bus.subscribe({ stream, consumer: "late", handler, deadLetters: deadLetters() });
    await publishUntilDurable(bus, [event]);
    await waitFor(
      async () => (await countFailing(outbox.database, schema)) === 0 && attempts === 3,
    );
  });

  it("come again when an operator wants it, to that consumer only", async () => {
    const event = makeEvent(stream, { text: "ä\0\ud800", big: "x".repeat(100_000) });
    const got: EventEnvelope[] = [];
    let isRepaired = false;
    const handler = async (envelope: EventEnvelope): Promise<void> => {
      if (!isRepaired) throw new Error("a fault");
      got.push(envelope);
    };
    const other: string[] = [];
    await bus.subscribe({ stream, consumer: "broken", handler, deadLetters: deadLetters() });
    await bus.subscribe({
      stream,
      consumer: "whole",
      handler: async ({ id }) => void other.push(id),
    });
    await publishUntilDurable(bus, [event]);
    const id = await waitFor(async () => (await letters())[0]?.id ?? null);

    await redriveDeadLetters(outbox.database, schema, { id });
    await waitFor(async () => (await letters())[0]?.attempts === TRIES + 1);
    expect(await letters()).toMatchObject([{ id, isWaiting: false }]);

    isRepaired = true;
    await redriveDeadLetters(outbox.database, schema, { limit: 10 });
    await waitFor(async () => (await countFailing(outbox.database, schema)) === 0);
    expect(got.map((envelope) => JSON.stringify(envelope))).toEqual([event.body]);
    expect(other).toEqual([event.id]);
  });

  it("are deleted one by one", async () => {
    const handler = async (): Promise<void> => {
      throw new Error("cannot be");
    };
    const store = createDeadLetters({
      database: outbox.database,
      schema,
      logger: silentLogger,
      tries: 1,
    });
    await bus.subscribe({ stream, consumer: "c", handler, deadLetters: store });
    await publishUntilDurable(bus, makeEvents(stream, 2));
    const found = await waitFor(async () => ((await letters()).length === 2 ? letters() : null));
    const [first] = found;
    if (first === undefined) throw new Error("There is a letter.");
    expect(await deleteDeadLetter(outbox.database, schema, newUuid())).toBeNull();
    expect(await deleteDeadLetter(outbox.database, schema, first.id)).toMatchObject({
      id: first.id,
      eventId: first.eventId,
      companyId: first.companyId,
    });
    expect(await letters()).toHaveLength(1);
  });
});

describe("dead letters of the NATS bus", () => {
  it("keep a message that is no event at once, whatever its bytes", async () => {
    bus = opened(openNatsBus);
    await publishUntilDurable(bus, [makeEvent(stream)]);
    const bytes = Buffer.from([0, 255, 0, 128]);
    await withNats((connection) => connection.jetstream().publish(`${stream}.odd`, bytes));
    const got: string[] = [];
    const handler = async ({ id }: EventEnvelope): Promise<void> => void got.push(id);
    await bus.subscribe({ stream, consumer: "reader", handler, deadLetters: deadLetters() });
    const [letter] = await waitFor(async () => {
      const found = await letters();
      return found.length > 0 ? found : null;
    });
    expect(letter).toMatchObject({
      eventId: "2",
      type: "odd",
      companyId: null,
      attempts: 1,
      error: "This is no event.",
      bodyBytes: 4,
    });
    await waitFor(() => pendingOf("reader").then((pending) => pending === 0));
    expect(got).toHaveLength(1);
  });

  it("count the failures of all processes together, and across restarts", async () => {
    const event = makeEvent(stream);
    let attempts = 0;
    const handler = async (): Promise<void> => {
      attempts += 1;
      throw new Error("cannot be");
    };
    const start = async (): Promise<EventBus> => {
      const made = opened(openNatsBus);
      await made.subscribe({ stream, consumer: "many", handler, deadLetters: deadLetters() });
      return made;
    };
    const first = await start();
    await start();
    await publishUntilDurable(first, [event]);
    await waitFor(() => attempts > 5);
    await first.close();
    await start();
    await waitFor(async () => (await letters()).length === 1);
    await waitFor(() => pendingOf("many").then((pending) => pending === 0));
    expect(attempts).toBe(TRIES);
  });

  it("are committed before the event is acknowledged: without the table it comes for ever", async () => {
    bus = opened(openNatsBus);
    const event = makeEvent(stream);
    let attempts = 0;
    const handler = async (): Promise<void> => {
      attempts += 1;
      throw new Error("cannot be");
    };
    const store = createDeadLetters({
      database: outbox.database,
      schema: "nowhere",
      logger: silentLogger,
      tries: 1,
    });
    await bus.subscribe({ stream, consumer: "lost", handler, deadLetters: store });
    await publishUntilDurable(bus, [event]);
    await waitFor(() => attempts > TRIES);
    expect(await pendingOf("lost")).toBe(1);
  });
});

describe("the table of dead letters", () => {
  it("leaves out the body of what is too big, and of a company that has too much", async () => {
    const store = createDeadLetters({
      database: outbox.database,
      schema,
      logger: silentLogger,
      tries: 1,
    });
    const consumer = { stream, consumer: "full" };
    const companyId = newUuid();
    const keep = async (bytes: number, company = companyId): Promise<boolean> => {
      const eventId = newUuid();
      const body = { bytes: Buffer.alloc(bytes), gzipped: false };
      const message = { eventId, type: "thing.happened", companyId: company, body };
      await store.countFailure(consumer, message, new Error("cannot be"));
      return (await letters()).find((letter) => letter.eventId === eventId)?.hasBody ?? false;
    };
    const MIB = 1024 * 1024;
    expect(await keep(MIB + 1)).toBe(false);
    for (let count = 0; count < 64; count += 1) expect(await keep(MIB)).toBe(true);
    expect(await keep(1)).toBe(false);
    expect(await keep(MIB, newUuid())).toBe(true);
    expect(await redriveDeadLetters(outbox.database, schema, { limit: 100 })).toHaveLength(65);
  });
});

async function withNats<T>(use: (connection: NatsConnection) => Promise<T>): Promise<T> {
  const connection = await connect({ servers: nats.url });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

function pendingOf(consumer: string): Promise<number> {
  return withNats(async (connection) => {
    const info = await (await connection.jetstreamManager()).consumers.info(stream, consumer);
    return info.num_ack_pending + info.num_pending;
  });
}
