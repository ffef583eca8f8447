import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { QueryRowsRequest } from "@workflow/proto/tables/v1/rows";
import type { Identity, RpcCallOptions } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { Registry } from "prom-client";
import { figuresOf } from "./support/figures-of.ts";
import { fillTable } from "./support/fill-table.ts";
import { newIdentity, startHarness } from "./support/harness.ts";
import type { Clients, Harness } from "./support/harness.ts";
import { createReadGate } from "./support/read-gate.ts";
import type { ReadGate } from "./support/read-gate.ts";
import { createRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";

const POOL_SIZE = 10;
/** What one company may have under way. */
const SHARE = POOL_SIZE / 2;

let harness: Harness;
let gate: ReadGate;
/** Of a process that is new for each case, so that nothing is in its memory and nothing was counted. */
let registry: Registry;
let clients: Clients;

beforeAll(async () => {
  harness = await startHarness();
  gate = await createReadGate(harness);
});
beforeEach(async () => {
  registry = new Registry();
  const options = { metricsRegistry: registry, databasePoolSize: POOL_SIZE, threads: 1 };
  clients = harness.connect(await harness.start(options));
});
afterEach(() => gate.open());
afterAll(async () => {
  await gate.end();
  await harness.close();
});

const LEFT = 'tables_questions_ended_total{reason="caller_left"}';
const HITS = 'cache_reads_total{cache="table_columns",outcome="hit"}';
const SCANS = 'tables_scans_total{event="begun"}';
const ABANDONED = 'tables_scans_total{event="abandoned"}';
const IN_USE = 'tables_cache_bytes_in_use{thread="0"}';

const figure = async (name: string): Promise<number> =>
  (await figuresOf(registry, name))[name] ?? 0;

/** Asks by a column that has to be read. */
function ask({ tableId, identity }: RowTable, call: Partial<RpcCallOptions>, sort = "amount") {
  const request = QueryRowsRequest.create({ tableId, sort, limit: 1, offset: 0 });
  return clients.rows.queryRows(request, { identity, ...call });
}

const createTables = (identity: Identity, count: number): Promise<RowTable[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const table = await createRowTable(harness, identity);
      await table.insert({ amount: 1 });
      return table;
    }),
  );

async function amountsOf(table: RowTable | undefined): Promise<unknown[] | undefined> {
  return (await table?.at(clients).query({ sort: "amount", show: "amount" }))?.values;
}

/** How many of these calls were refused because their callers had gone. */
async function countLeft(calls: Promise<unknown>[]): Promise<number> {
  const settled = await Promise.allSettled(calls);
  return settled.filter(({ status }) => status === "rejected").length;
}

describe("questions whose callers have gone", () => {
  it("make no statement that was not under way, whoever else is answered", async () => {
    const tables = await createTables(newIdentity(), 4 * SHARE);
    const [other] = await createTables(newIdentity(), 1);
    await gate.close(tables.map(({ tableId }) => tableId));
    const before = await gate.reached();
    const leaving = new AbortController();
    const left = countLeft(tables.map((table) => ask(table, { signal: leaving.signal })));
    await waitFor(async () => (await gate.waiting()) === SHARE);
    leaving.abort();
    expect(await left).toBe(tables.length);
    // Comes after the news that they have gone, to the service and to its thread.
    expect(await amountsOf(other)).toEqual([1]);
    await gate.open();
    await waitFor(async () => (await gate.waiting()) === 0 && (await figure(IN_USE)) === 0);
    await waitFor(async () => (await figure(LEFT)) >= SHARE);
    // A table has one row, so each statement comes to the gate once.
    expect((await gate.reached()) - before).toBe(SHARE);
    for (const table of tables) expect(await amountsOf(table)).toEqual([1]);
  });

  it("make none after their deadline either", async () => {
    const tables = await createTables(newIdentity(), 4 * SHARE);
    const [other] = await createTables(newIdentity(), 1);
    await gate.close(tables.map(({ tableId }) => tableId));
    const before = await gate.reached();
    const left = countLeft(tables.map((table) => ask(table, { timeoutMs: 2_000 })));
    expect(await left).toBe(tables.length);
    // Comes after the news that they have gone, as above.
    expect(await amountsOf(other)).toEqual([1]);
    await gate.open();
    await waitFor(async () => (await gate.waiting()) === 0 && (await figure(IN_USE)) === 0);
    expect((await gate.reached()) - before).toBeLessThanOrEqual(SHARE);
    for (const table of tables) expect(await amountsOf(table)).toEqual([1]);
  });

  it("pass their turn with the table on, however many they were", async () => {
    const table = await createRowTable(harness, newIdentity());
    // By the process that is asked, which knows the table's columns then.
    await table.at(clients).insert({ amount: 1 });
    const [other] = await createTables(newIdentity(), 1);
    await gate.close([table.tableId]);
    const before = await gate.reached();
    const leaving = new AbortController();
    // One reads what there is; the others would do so in the next turn.
    const left = countLeft(
      Array.from({ length: 1_000 }, () => ask(table, { signal: leaving.signal })),
    );
    await waitFor(async () => (await gate.waiting()) === 1 && (await figure(HITS)) >= 1);
    leaving.abort();
    expect(await left).toBe(1_000);
    expect(await amountsOf(other)).toEqual([1]);
    await gate.open();
    await waitFor(async () => (await gate.waiting()) === 0 && (await figure(IN_USE)) === 0);
    expect(await amountsOf(table)).toEqual([1]);
    // The statement that was under way, perhaps one of the last question, and the reading of its page.
    expect((await gate.reached()) - before).toBeLessThanOrEqual(3);
  });

  it("leave a reading of columns to those who still wait for it, and end it when nobody does", async () => {
    const table = await createRowTable(harness, newIdentity());
    await fillTable(harness, table.tableId, { rows: 6_000, prefix: "", repeats: 30 });
    const [first, second, third] = [1, 2, 3].map(() => new AbortController());
    await gate.close([table.tableId]);
    const early = countLeft([ask(table, { signal: first?.signal }, "name")]);
    await waitFor(async () => (await gate.waiting()) === 1);
    const late = ask(table, { signal: second?.signal }, "name");
    await waitFor(async () => (await figure(HITS)) === 1);
    first?.abort();
    expect(await early).toBe(1);
    await waitFor(async () => (await figure(LEFT)) === 1);
    await gate.open();
    expect((await late).rows).toHaveLength(1);
    expect([await figure(SCANS), await figure(ABANDONED)]).toEqual([1, 0]);

    await gate.close([table.tableId]);
    const alone = countLeft([ask(table, { signal: third?.signal })]);
    await waitFor(async () => (await gate.waiting()) === 1);
    third?.abort();
    expect(await alone).toBe(1);
    await gate.open();
    await waitFor(async () => (await figure(ABANDONED)) === 1);
    await waitFor(async () => (await figure(IN_USE)) === 0);
    const { values } = await table.at(clients).query({ sort: "amount", show: "amount", limit: 1 });
    expect(values).toEqual([0]);
  });
});
