import { AsyncLocalStorage } from "node:async_hooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AggregateRowsResponse } from "@workflow/proto/tables/v1/rows";
import { z } from "zod";
import { CompanyConnections } from "../src/company-connections.ts";
import type { Column } from "../src/domain/column.ts";
import { gatherChanges } from "../src/snapshots/gather-changes.ts";
import { createTableHeads, Snapshots, TableReader } from "../src/snapshots/index.ts";
import { freezeSnapshot } from "../src/store/export-rows.ts";
import { newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { hookedDatabase } from "./support/hooked-database.ts";
import type { Hook } from "./support/hooked-database.ts";
import { createRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";

let harness: Harness;
let database: Database;
let hook: Hook = () => undefined;
let snapshots: Snapshots;

beforeAll(async () => {
  harness = await startHarness();
  const connectionUri = harness.databaseUri;
  database = await openDatabase({
    connectionUri,
    role: "workflow_tables",
    applicationName: "test",
  });
});
afterAll(async () => {
  await database.end();
  await harness.close();
});

beforeEach(() => {
  const connections = new CompanyConnections(
    hookedDatabase(database, (statement) => hook(statement)),
  );
  const reader = new TableReader({ connections, cacheBytesMax: 1_000_000_000 });
  snapshots = new Snapshots({ reader, heads: createTableHeads(connections), connections });
});
afterEach(() => {
  hook = () => undefined;
});

const NUMBERS = Array.from({ length: 4 }, (_, n): Column => ({
  id: `c${n}`,
  name: `C ${n}`,
  type: "number",
}));

/** The sum of each of the columns. */
async function sumsOf({ tableId, identity }: RowTable, ids: readonly string[]): Promise<string[]> {
  const name = { tableId, companyId: identity.companyId };
  const { encoded } = await snapshots.aggregate(name, (columns) => ({
    filter: [],
    groupBy: null,
    measures: columns
      .filter(({ id }) => ids.includes(id))
      .map((column) => ({ function: "sum", column })),
  }));
  const [group] = AggregateRowsResponse.decode(encoded).groups;
  return group?.valuesJson ?? [];
}

/** A hook is called inside the transaction whose statement it precedes; its own are not part of that. */
const outside = AsyncLocalStorage.snapshot();

/** Gives all rows of a table, or some, the same data by one write. */
async function rewrite({ tableId }: RowTable, data: string, from = 0): Promise<void> {
  await harness.database.query(sql.type(z.object({}))`
    with state as (
      update tables.table_states as state
      set revision = state.revision + 1
      from tables.tables as "table"
      where "table".id = ${tableId} and state.table_key = "table".key
      returning state.table_key, state.revision
    )
    update tables.rows as "row"
    set data = ${data}::json, revision = state.revision
    from state
    where "row".table_key = state.table_key and "row".position >= ${from}
  `);
}

const dataOf = (value: number) =>
  JSON.stringify(Object.fromEntries(NUMBERS.map(({ id }) => [id, value])));

describe("columns that several questions miss at a time", () => {
  /** A table that is too large to be read by one statement. */
  async function largeTable(): Promise<RowTable> {
    const table = await createRowTable(harness, newIdentity(), { columns: NUMBERS });
    const data = { ...JSON.parse(dataOf(100)), rest: "x".repeat(250) };
    await table.insertAll(Array.from({ length: 5_000 }, () => data));
    return table;
  }

  it("are read by one scan, for which whoever misses one of them waits", async () => {
    const table = await largeTable();
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let parts = 0;
    hook = ({ name, when }) => {
      if (name !== "rows_load_datas" || when !== "before") return undefined;
      parts += 1;
      begun.resolve();
      return gate.promise;
    };
    const all = sumsOf(table, ["c0", "c1", "c2", "c3"]);
    await begun.promise;
    const last = sumsOf(table, ["c3"]);
    gate.resolve();
    expect(await all).toEqual(Array(4).fill("500000"));
    expect(await last).toEqual(["500000"]);
    // 2,000 rows, and then about 1 MiB at a time.
    expect(parts).toBe(2);
  });

  it("are read again by a question that needs a part of what could not be read", async () => {
    const table = await largeTable();
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let parts = 0;
    hook = ({ name, when }) => {
      if (name !== "rows_load_datas" || when !== "before") return undefined;
      parts += 1;
      if (parts > 1) return undefined;
      begun.resolve();
      return gate.promise;
    };
    const all = sumsOf(table, ["c0", "c1", "c2", "c3"]);
    await begun.promise;
    const one = sumsOf(table, ["c3"]);
    gate.reject(new Error("Refused."));
    await expect(all).rejects.toThrow("Refused.");
    expect(await one).toEqual(["500000"]);
  });

  it("follow what is written while they are read", async () => {
    const table = await largeTable();
    let version = 100;
    hook = ({ name, when }) => {
      if (name !== "rows_load_datas" || when !== "after" || version > 102) return undefined;
      version += 1;
      return outside(() => rewrite(table, dataOf(version), 1_000));
    };
    const [one, ...others] = await sumsOf(table, ["c0", "c1", "c2", "c3"]);
    expect(version).toBe(102);
    expect(one).toBe(`${1_000 * 100 + 4_000 * 102}`);
    expect(others).toEqual(Array(3).fill(one));
  });
});

describe("a table of which more is written than can be followed", () => {
  it("answers, though all of it is written anew before each look at changes", async () => {
    const rows = 21_000;
    const identity = newIdentity();
    const table = await createRowTable(harness, identity, { columns: NUMBERS, maxRows: rows });
    await table.insertAll(Array.from({ length: rows }, () => JSON.parse(dataOf(0))));
    expect(await sumsOf(table, ["c0", "c1"])).toEqual(["0", "0"]);
    let version = 0;
    hook = ({ name, when }) => {
      if (name !== "rows_changes" || when !== "before") return undefined;
      version += 1;
      return outside(() => rewrite(table, dataOf(version)));
    };
    const [one, two] = await sumsOf(table, ["c0", "c1"]);
    expect(one).toBe(two);
    expect(Number(one) % rows).toBe(0);
    expect(Number(one)).toBeGreaterThanOrEqual(rows);
  });
});

describe("readers of many long columns that another process writes all the time", () => {
  it("are all answered", async () => {
    const rows = 1_500;
    const columns = Array.from({ length: 6 }, (_, n): Column => ({
      id: `t${n}`,
      name: `T ${n}`,
      type: "text",
    }));
    // Postgres packs these to a tenth.
    const textsOf = (row: number, version: number) =>
      Object.fromEntries(
        columns.map(({ id }) => [id, `v${version} r${row} ${"lorem ipsum dolor ".repeat(33)}`]),
      );
    const table = await createRowTable(harness, newIdentity(), { columns });
    await table.insertAll(Array.from({ length: rows }, (_, row) => textsOf(row, 1)));
    const { tableId, identity } = table;
    const { rows: known } = await snapshots.queryRows(
      { tableId, companyId: identity.companyId },
      () => ({ filter: [], sort: null, limit: rows, offset: 0 }),
    );
    const other = table.at(harness.connect(await harness.start()));
    const filter = Object.fromEntries(
      columns.map(({ id }) => [id, { condition: { operator: "starts_with", value: "v" } }]),
    );
    let isOver = false;
    const writers = [0, 500, 1_000].map(async (from) => {
      for (let version = 2; !isOver; version++) {
        const updates = known.slice(from, from + 500).map(({ id, position }) => ({
          rowId: id,
          dataJson: JSON.stringify(textsOf(position, version)),
        }));
        const batch = { tableId, insertDataJson: [], updates, deleteRowIds: [] };
        await harness.rows.batchRows(batch, { identity });
      }
    });
    const readers = Array.from({ length: 3 }, async () => {
      for (let read = 0; read < 2; read++) {
        expect((await other.query({ filter, show: "t0" })).total).toBe(rows);
      }
    });
    await Promise.all(readers).finally(() => (isOver = true));
    await Promise.all(writers);
  });
});

describe("a table of large objects", () => {
  const columns: Column[] = [{ id: "doc", name: "Doc", type: "json" }, ...NUMBERS];
  const rows = 40;
  const items = Array<string>(1_000).fill("x".repeat(1_000));
  const large = JSON.stringify({ c0: 1, doc: [...items, "the end"] });

  it("answers when all of them are new, and when it has nothing in memory", async () => {
    const table = await createRowTable(harness, newIdentity(), { columns });
    await table.insertAll(Array.from({ length: rows }, () => ({ c0: 1, doc: [1] })));
    const filter = { doc: { condition: { operator: "contains", value: "the end" } } };
    const matching = async (at = table) => (await at.query({ filter, show: "c0" })).total;
    expect(await matching()).toBe(0);
    await rewrite(table, large, 5);
    expect(await matching()).toBe(rows - 5);
    expect(await matching(table.at(harness.connect(await harness.start())))).toBe(rows - 5);
  });

  it("is followed by statements of bounded work, and only what columns keep is kept", async () => {
    const table = await createRowTable(harness, newIdentity(), { columns });
    await table.insertAll(Array.from({ length: rows }, () => ({ c0: 1, doc: [1] })));
    await rewrite(table, large);
    const key = await harness.database.one(
      sql.type(z.object({ tableKey: z.number(), companyId: z.string(), history: z.string() }))`
        select key as "tableKey", company_id as "companyId", tables.history() as "history"
        from tables.tables where id = ${table.tableId}
      `,
    );
    let pages = 0;
    let wholeMax = 0;
    const seen = hookedDatabase(database, ({ name, values, when }) => {
      if (name === "rows_changes" && when === "before") pages += 1;
      if (name === "rows_whole_values" && when === "before") {
        const positions = values.find((value) => Array.isArray(value));
        wholeMax = Math.max(wholeMax, positions?.length ?? 0);
      }
      return undefined;
    });
    const lag = { columns: [], revision: 0, valuesSince: 0, lastPosition: -1 };
    const gathered = await seen.transaction(async (transaction) => {
      await freezeSnapshot(transaction);
      const wanted = { ...lag, history: key.history, keys: ["doc", "c0"] };
      return gatherChanges(transaction, key, wanted, { isFrozen: true });
    });
    if (gathered.found !== "changes") throw new Error(gathered.found);
    expect(gathered.changes.rows.size).toBe(rows);
    // Of two columns 16 MiB are eight rows, or nine with the one that goes beyond.
    expect(pages).toBe(5);
    expect(wholeMax).toBeLessThanOrEqual(5);
    const kept = JSON.stringify([...gathered.changes.rows.values()]);
    expect(kept.length).toBeLessThan(rows * 2_200);
  });
});
