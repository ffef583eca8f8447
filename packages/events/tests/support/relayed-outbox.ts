import { afterAll, afterEach, beforeAll, beforeEach } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { createOutboxRelay } from "../../src/index.ts";
import type { EventBus, NewEvent, OutboxRelay, OutboxRelayOptions } from "../../src/index.ts";
import { silentLogger } from "./events.ts";
import { createOutboxDatabase, readOutbox } from "./outbox-database.ts";
import type { OutboxDatabase } from "./outbox-database.ts";

/** Events of one company, numbered from 0. */
export function newEvents(count: number): NewEvent[] {
  const companyId = newUuid();
  return Array.from({ length: count }, (_, index) => ({
    type: "thing.happened",
    companyId,
    data: { index },
  }));
}

/** A database for the cases of a file, with an outbox of its own for each case; relays stop after their case. */
export function useOutbox() {
  let outbox: OutboxDatabase;
  let schema: string;
  let relays: OutboxRelay[];
  beforeAll(async () => {
    outbox = await createOutboxDatabase();
  });
  beforeEach(async () => {
    schema = await outbox.createSchema();
    relays = [];
  });
  afterEach(async () => {
    await Promise.all(relays.map((relay) => relay.stop()));
  });
  afterAll(() => outbox.close());

  return {
    get database() {
      return outbox.database;
    },
    get connectionUri() {
      return outbox.connectionUri;
    },
    /** The schema of the case's outbox, which is the name of its stream, too. */
    get schema() {
      return schema;
    },
    startRelay(bus: EventBus, options: Partial<OutboxRelayOptions> = {}): OutboxRelay {
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
    },
    /** Stops the relays of the case before it ends. */
    async stopRelays(): Promise<void> {
      await Promise.all(relays.splice(0).map((relay) => relay.stop()));
    },
    /** The state of each event as `readOutbox` tells it, or `absent`. */
    async statesOf(ids: readonly string[]): Promise<string[]> {
      const rows = await readOutbox(outbox.database, schema);
      return ids.map((id) => rows.find((row) => row.id === id)?.state ?? "absent");
    },
  };
}
