import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { QueryRowsRequest } from "@workflow/proto/tables/v1/rows";
import { z } from "zod";
import { newIdentity, startHarness } from "./support/harness.ts";
import type { Clients, Harness } from "./support/harness.ts";
import { createRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";

const TABLES = 4;
const ROWS = 250;
/** More than a quarter, so that dead rows are cleared away and rows get new indexes. */
const REPLACED = 100;
const WRITES = 12;
const QUESTIONS = 40;

let harness: Harness;
let directory: string;
/** A process that has columns on disk as soon as nobody uses them. */
let spilling: Clients;

beforeAll(async () => {
  harness = await startHarness();
  directory = await mkdtemp(join(tmpdir(), "spill-"));
  const spill = { directory, bytesMax: 4 * 1024 * 1024, rowsMin: 1 };
  spilling = harness.connect(await harness.start({ cacheBytesMax: 1, threads: 1, spill }));
});
afterAll(async () => {
  await harness.close();
  await rm(directory, { recursive: true });
});

const rowShape = z.object({ amount: z.number(), name: z.string() });
const rowOf = (amount: number) => ({ amount, name: `n${amount}`, status: "open" });

/** Replaces rows by as many others, several times; each time in one transaction. */
async function replaceRows({ tableId, identity }: RowTable, next: () => number): Promise<void> {
  for (let write = 0; write < WRITES; write += 1) {
    const request = QueryRowsRequest.create({ tableId, limit: REPLACED, offset: write % 50 });
    const { rows } = await spilling.rows.queryRows(request, { identity });
    await spilling.rows.batchRows(
      {
        tableId,
        insertDataJson: rows.map(() => JSON.stringify(rowOf(next()))),
        updates: [],
        deleteRowIds: rows.map(({ id }) => id),
      },
      { identity },
    );
  }
}

/** Asks for all rows by a filter and an order, which need two columns. */
async function checkRows({ tableId, identity }: RowTable, round: number): Promise<void> {
  const condition = { operator: "greater_than_or_equal", value: 0 };
  const filterJson = JSON.stringify({ amount: { condition } });
  const sort = round % 2 === 0 ? "name" : "amount";
  const request = QueryRowsRequest.create({ tableId, filterJson, sort, limit: 50, offset: 20 });
  const { rows, total } = await spilling.rows.queryRows(request, { identity });
  expect(total).toBe(ROWS);
  const values = rows.map(({ dataJson }) => rowShape.parse(JSON.parse(dataJson)));
  expect(values).toHaveLength(50);
  const keys = values.map(({ amount, name }) => {
    expect(name).toBe(`n${amount}`);
    return sort === "name" ? name : amount;
  });
  const inOrder = keys.toSorted((a, b) =>
    String(a).localeCompare(String(b), "en", { numeric: sort === "amount" }),
  );
  expect(keys).toEqual(inOrder);
  expect(new Set(keys).size).toBe(50);
}

it("columns that go to disk and come back while rows are replaced answer as of one revision", async () => {
  let amount = 0;
  const next = (): number => (amount += 1);
  const identity = newIdentity();
  const tables: RowTable[] = [];
  for (let count = 0; count < TABLES; count += 1) {
    const table = await createRowTable(harness, identity);
    await table.insertAll(Array.from({ length: ROWS }, () => rowOf(next())));
    tables.push(table);
  }
  const asking = async (offset: number): Promise<void> => {
    for (let round = 0; round < QUESTIONS; round += 1) {
      const table = tables[(round + offset) % TABLES];
      if (table !== undefined) await checkRows(table, round + offset);
    }
  };
  await Promise.all([
    ...tables.map((table) => replaceRows(table, next)),
    ...[0, 1, 2, 3, 4, 5].map(asking),
  ]);
  for (const table of tables) await checkRows(table, 0);
}, 240_000);
