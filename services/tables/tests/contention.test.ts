import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { MeasureFunction, SortOrder } from "@workflow/proto/tables/v1/rows";
import type { RpcCallOptions } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { createRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";

const POOL_SIZE = 10;
const WRITERS = 30;
const READERS = 8;
const READS_EACH = 10;
const CANARY_READS = 40;
/** What a writer's two rows have together at any time. */
const PAIR_SUM = 200;

let harness: Harness;
/** Holds locks for as long as a test wants. */
let locker: Database;

beforeAll(async () => {
  harness = await startHarness({ databasePoolSize: POOL_SIZE });
  locker = await openDatabase({
    connectionUri: harness.databaseUri,
    applicationName: "test-locks",
    maxConnections: 1,
    idleInTransactionTimeoutMs: 60_000,
  });
});
afterAll(async () => {
  await locker.end();
  await harness.close();
});

const amountsOf = (first: number, owner: string) => [
  { owner, amount: first },
  { owner, amount: PAIR_SUM - first },
];

/** Moves an amount between two rows in every way of writing that there is, never changing their sum. */
async function writeOnce({ tableId, identity }: RowTable, pair: string[], turn: number) {
  const { rows } = harness;
  const [one = "", other = ""] = pair;
  const datas = amountsOf(turn % PAIR_SUM, "writer").map((data) => JSON.stringify(data));
  const updates = pair.map((rowId, place) => ({ rowId, dataJson: datas[place] ?? "" }));
  switch (turn % 4) {
    case 0:
      return rows.batchRows(
        { tableId, insertDataJson: [], updates, deleteRowIds: [] },
        { identity },
      );
    case 1: {
      const note = { tableId, dataJson: `{"note":${turn}}`, merge: true };
      const origin = { runId: "run_1", idempotencyKey: `${one} ${turn}` };
      return rows.updateRow({ ...note, rowId: one, origin }, { identity });
    }
    case 2:
      return rows.updateRow(
        { tableId, rowId: other, dataJson: `{"note":${turn}}`, merge: true, origin: undefined },
        { identity },
      );
    default: {
      const added = await rows.insertRow(
        { tableId, dataJson: '{"owner":"guest","amount":0}', origin: undefined },
        { identity },
      );
      return rows.deleteRow({ tableId, rowId: added.id, origin: undefined }, { identity });
    }
  }
}

async function addPair({ tableId, identity }: RowTable): Promise<string[]> {
  const insertDataJson = amountsOf(100, "writer").map((data) => JSON.stringify(data));
  const batch = { tableId, insertDataJson, updates: [], deleteRowIds: [] };
  const { inserted } = await harness.rows.batchRows(batch, { identity });
  return inserted.map(({ id }) => id);
}

const ofWriters = { owner: { values: ["writer"] } };

/** The amounts of all writers' rows as a page tells them, and as figures do. */
async function readSums(table: RowTable): Promise<{ page: number; count: number; figure: string }> {
  const { tableId, identity } = table;
  const asked = table.query({ filter: ofWriters, sort: "amount", show: "amount" });
  const { values, total } = await asked;
  const { groups } = await harness.rows.aggregateRows(
    {
      tableId,
      filterJson: JSON.stringify(ofWriters),
      groupBy: "",
      measures: [{ function: MeasureFunction.SUM, columnId: "amount" }],
    },
    { identity },
  );
  const page = values.reduce<number>((sum, value) => sum + Number(value), 0);
  return { page, count: total, figure: groups[0]?.valuesJson[0] ?? "" };
}

/** How many of the service's connections wait for a lock at the moment. */
async function lockWaiters(): Promise<number> {
  return harness.database.oneFirst(sql.type(z.object({ count: z.number() }))`
    select count(*)::integer as count
    from pg_stat_activity
    where application_name = 'workflow-tables' and datname = current_database()
      and wait_event_type = 'Lock'
  `);
}

describe("thirty writers and eight readers of one table", () => {
  it("get exact answers, no one is refused, and others read all the while", async () => {
    const columns = [
      { id: "owner", name: "Owner", type: "text" },
      { id: "amount", name: "Amount", type: "number" },
    ] as const;
    const table = await createRowTable(harness, newIdentity(), { columns });
    const canary = await createRowTable(harness, newIdentity());
    await canary.insertAll([{ amount: 1 }, { amount: 2 }]);
    const pairs = await Promise.all(Array.from({ length: WRITERS }, () => addPair(table)));
    let isOver = false;
    const writes = pairs.map(async (pair) => {
      let turn = 0;
      for (; !isOver; turn++) await writeOnce(table, pair, turn);
      return turn;
    });
    const expected = {
      page: WRITERS * PAIR_SUM,
      count: WRITERS * 2,
      figure: `${WRITERS * PAIR_SUM}`,
    };
    const reads = Array.from({ length: READERS }, async () => {
      for (let read = 0; read < READS_EACH; read++) expect(await readSums(table)).toEqual(expected);
    });
    let waitersMax = 0;
    const canaryReads = (async () => {
      for (let read = 0; read < CANARY_READS; read++) {
        const { values } = await canary.query({ filter: {}, sort: "amount", show: "amount" });
        expect(values).toEqual([1, 2]);
        waitersMax = Math.max(waitersMax, await lockWaiters());
      }
    })();
    const written = await Promise.all([...reads, canaryReads])
      .finally(() => (isOver = true))
      .then(() => Promise.all(writes));
    expect(Math.min(...written)).toBeGreaterThan(0);
    // Of the two writers that have a connection one has the lock.
    expect(waitersMax).toBeLessThanOrEqual(1);
    expect(await readSums(table)).toEqual(expected);
  });
});

describe("a company whose writes all have to wait", () => {
  it("leaves connections to the others", async () => {
    const greedy = newIdentity();
    const tables = await Promise.all(
      Array.from({ length: 3 * POOL_SIZE }, () => createRowTable(harness, greedy)),
    );
    const rowIds = await Promise.all(tables.map((table) => table.insert({ amount: 0 })));
    const canary = await createRowTable(harness, newIdentity());
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const locking = locker.transaction(async (transaction) => {
      await transaction.query(sql.type(z.object({}))`
        select from tables.table_states where company_id = ${greedy.companyId} for update
      `);
      lock();
      await released;
    });
    await locked;
    const writes = tables.flatMap((table, place) => [
      table.insert({ amount: 1 }),
      harness.rows.updateRow(
        {
          tableId: table.tableId,
          rowId: rowIds[place] ?? "",
          dataJson: "{}",
          merge: false,
          origin: undefined,
        },
        { identity: greedy },
      ),
    ]);
    const written = Promise.all(writes);
    try {
      await waitFor(async () => (await lockWaiters()) === POOL_SIZE / 2);
      // Each of these needs a connection, and several at once.
      for (let amount = 0; amount < 20; amount++) {
        await Promise.all([canary.insert({ amount }), canary.insert({ amount })]);
        const page = { limit: 1, offset: 0, sort: "amount", order: SortOrder.DESC };
        const all = { filterJson: "", legacyFilter: false };
        const request = { tableId: canary.tableId, ...page, ...all };
        const { total } = await harness.rows.queryRows(request, { identity: canary.identity });
        expect(total).toBe(2 * (amount + 1));
      }
      expect(await lockWaiters()).toBe(POOL_SIZE / 2);
    } finally {
      release();
      await locking;
    }
    await written;
    const counts = await Promise.all(tables.map((table) => table.query({ show: "amount" })));
    expect(new Set(counts.map(({ total }) => total))).toEqual(new Set([2]));
  });
});

describe("callers who have gone while they waited", () => {
  it("have nothing written, but what had reached the database", async () => {
    const table = await createRowTable(harness, newIdentity());
    const { tableId, identity } = table;
    const rowIds = [];
    for (let amount = 0; amount < 12; amount++) rowIds.push(await table.insert({ amount }));
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const locking = locker.transaction(async (transaction) => {
      await transaction.query(sql.type(z.object({}))`
        select from tables.table_states where company_id = ${identity.companyId} for update
      `);
      lock();
      await released;
    });
    await locked;
    const leaving = new AbortController();
    // Of those that wait in the process nothing is seen: they are given time to come there.
    const hasty = { identity, timeoutMs: 1_500 };
    const row = { tableId, dataJson: '{"amount":1}', origin: undefined };
    const deletion = (rowId: string, call: RpcCallOptions): Promise<unknown> =>
      harness.rows.deleteRow({ tableId, rowId, origin: undefined }, call);
    // The table's writers hold at most two connections; the others wait in the process.
    const reached = rowIds
      .slice(0, 2)
      .map((rowId) => deletion(rowId, { identity, signal: leaving.signal }));
    const reachedEnded = Promise.allSettled(reached);
    await waitFor(async () => (await lockWaiters()) === reached.length);
    const waiting = [
      ...rowIds.slice(2).map((rowId) => deletion(rowId, hasty)),
      ...rowIds.map(() => harness.rows.insertRow(row, hasty)),
      harness.rows.insertRows({ requests: [row, row] }, hasty),
    ];
    const ended = await Promise.allSettled(waiting);
    leaving.abort();
    ended.push(...(await reachedEnded));
    // Comes after the news, on the same connection, that they have gone.
    await table.query({ show: "amount" });
    release();
    await locking;
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(["rejected"]));
    // Comes after all that still waits.
    await table.insert({ amount: 99 });
    const { total } = await table.query({ show: "amount" });
    expect(total).toBe(rowIds.length - reached.length + 1);
  });
});
