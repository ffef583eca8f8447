import { describe, expect, it } from "@jest/globals";
import { QueryRowsRequest } from "@workflow/proto/tables/v1/rows";
import type { Identity, RpcCallOptions } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { fillTable } from "./support/fill-table.ts";
import { newIdentity } from "./support/harness.ts";
import { createRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";
import { useGatedQuestions } from "./support/gated-questions.ts";

const POOL_SIZE = 10;
/** The statements that one company may have under way. */
const SHARE = POOL_SIZE / 2;

const bench = useGatedQuestions({ databasePoolSize: POOL_SIZE });

const LEFT = 'tables_questions_ended_total{reason="caller_left"}';
const HITS = 'cache_reads_total{cache="table_columns",outcome="hit"}';
const SCANS = 'tables_scans_total{event="begun"}';
const ABANDONED = 'tables_scans_total{event="abandoned"}';

/** Sends a question whose answer needs a column from the database. */
function ask({ tableId, identity }: RowTable, call: Partial<RpcCallOptions>, sort = "amount") {
  const request = QueryRowsRequest.create({ tableId, sort, limit: 1, offset: 0 });
  return bench.clients.rows.queryRows(request, { identity, ...call });
}

const createTables = (identity: Identity, count: number): Promise<RowTable[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const table = await createRowTable(bench.harness, identity);
      await table.insert({ amount: 1 });
      return table;
    }),
  );

async function amountsOf(table: RowTable | undefined): Promise<unknown[] | undefined> {
  return (await table?.at(bench.clients).query({ sort: "amount", show: "amount" }))?.values;
}

/** The number of calls that end without an answer, because their callers have gone. */
async function countLeft(calls: Promise<unknown>[]): Promise<number> {
  const settled = await Promise.allSettled(calls);
  return settled.filter(({ status }) => status === "rejected").length;
}

describe("questions whose callers have gone", () => {
  it("make no statement that was not under way, whoever else is answered", async () => {
    const tables = await createTables(newIdentity(), 4 * SHARE);
    const [other] = await createTables(newIdentity(), 1);
    await bench.gate.close(tables.map(({ tableId }) => tableId));
    const before = await bench.gate.reached();
    const leaving = new AbortController();
    const left = countLeft(tables.map((table) => ask(table, { signal: leaving.signal })));
    await waitFor(async () => (await bench.gate.waiting()) === SHARE);
    leaving.abort();
    expect(await left).toBe(tables.length);
    // This question reaches the service and its thread after the news that the callers have gone.
    expect(await amountsOf(other)).toEqual([1]);
    await bench.gate.open();
    await waitFor(
      async () => (await bench.gate.waiting()) === 0 && (await bench.bytesInUse()) === 0,
    );
    await waitFor(async () => (await bench.figure(LEFT)) >= SHARE);
    // A table has one row, so each statement comes to the gate once.
    expect((await bench.gate.reached()) - before).toBe(SHARE);
    for (const table of tables) expect(await amountsOf(table)).toEqual([1]);
  });

  it("make none after their deadline either", async () => {
    const tables = await createTables(newIdentity(), 4 * SHARE);
    const [other] = await createTables(newIdentity(), 1);
    await bench.gate.close(tables.map(({ tableId }) => tableId));
    const before = await bench.gate.reached();
    const left = countLeft(tables.map((table) => ask(table, { timeoutMs: 2_000 })));
    expect(await left).toBe(tables.length);
    // This question comes after that news, as above.
    expect(await amountsOf(other)).toEqual([1]);
    await bench.gate.open();
    await waitFor(
      async () => (await bench.gate.waiting()) === 0 && (await bench.bytesInUse()) === 0,
    );
    expect((await bench.gate.reached()) - before).toBeLessThanOrEqual(SHARE);
    for (const table of tables) expect(await amountsOf(table)).toEqual([1]);
  });

  it("pass their turn with the table on, however many they were", async () => {
    const table = await createRowTable(bench.harness, newIdentity());
    // The insert lets the process that is asked know the table's columns.
    await table.at(bench.clients).insert({ amount: 1 });
    const [other] = await createTables(newIdentity(), 1);
    await bench.gate.close([table.tableId]);
    const before = await bench.gate.reached();
    const leaving = new AbortController();
    // One question reads; the others would read in the next turn.
    const left = countLeft(
      Array.from({ length: 1_000 }, () => ask(table, { signal: leaving.signal })),
    );
    await waitFor(
      async () => (await bench.gate.waiting()) === 1 && (await bench.figure(HITS)) >= 1,
    );
    leaving.abort();
    expect(await left).toBe(1_000);
    expect(await amountsOf(other)).toEqual([1]);
    await bench.gate.open();
    await waitFor(
      async () => (await bench.gate.waiting()) === 0 && (await bench.bytesInUse()) === 0,
    );
    expect(await amountsOf(table)).toEqual([1]);
    // The statement under way, perhaps one of the last question, and the read of its page.
    expect((await bench.gate.reached()) - before).toBeLessThanOrEqual(3);
  });

  it("leave a reading of columns to those who still wait for it, and end it when nobody does", async () => {
    const table = await createRowTable(bench.harness, newIdentity());
    await fillTable(bench.harness, table.tableId, { rows: 6_000, prefix: "", repeats: 30 });
    const [first, second, third] = [1, 2, 3].map(() => new AbortController());
    await bench.gate.close([table.tableId]);
    const early = countLeft([ask(table, { signal: first?.signal }, "name")]);
    await waitFor(async () => (await bench.gate.waiting()) === 1);
    const late = ask(table, { signal: second?.signal }, "name");
    await waitFor(async () => (await bench.figure(HITS)) === 1);
    first?.abort();
    expect(await early).toBe(1);
    await waitFor(async () => (await bench.figure(LEFT)) === 1);
    await bench.gate.open();
    expect((await late).rows).toHaveLength(1);
    expect([await bench.figure(SCANS), await bench.figure(ABANDONED)]).toEqual([1, 0]);

    await bench.gate.close([table.tableId]);
    const alone = countLeft([ask(table, { signal: third?.signal })]);
    await waitFor(async () => (await bench.gate.waiting()) === 1);
    third?.abort();
    expect(await alone).toBe(1);
    await bench.gate.open();
    await waitFor(async () => (await bench.figure(ABANDONED)) === 1);
    await waitFor(async () => (await bench.bytesInUse()) === 0);
    const { values } = await table
      .at(bench.clients)
      .query({ sort: "amount", show: "amount", limit: 1 });
    expect(values).toEqual([0]);
  });
});
