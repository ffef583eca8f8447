import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDatabase } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import { CompanyConnections } from "../src/company-connections.ts";
import { createTableHeads, Snapshots, TableReader } from "../src/snapshots/index.ts";
import { newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { createRowTable, NUMBER, SELECT, TEXT } from "./support/row-table.ts";

let harness: Harness;
let database: Database;
let statements = 0;

beforeAll(async () => {
  harness = await startHarness();
  database = await openDatabase({
    connectionUri: harness.databaseUri,
    role: "workflow_tables",
    applicationName: "test",
  });
});
afterAll(async () => {
  await database.end();
  await harness.close();
});

/** The database, with its statements counted; a transaction has two more than are made in it. */
function counting(): Database {
  const transaction: Database["transaction"] = (handler, retries) => {
    statements += 2;
    return database.transaction((inside) => {
      const counted: Transaction = Object.create(inside);
      return handler(Object.assign(counted, countedCalls(inside)));
    }, retries);
  };
  const counted: Database = Object.create(database);
  return Object.assign(counted, countedCalls(database), { transaction });
}

function countedCalls({ any, one, maybeOne, query }: Database | Transaction) {
  return {
    any: countedCall(any),
    one: countedCall(one),
    maybeOne: countedCall(maybeOne),
    query: countedCall(query),
  };
}

function countedCall<Args extends unknown[], Result>(call: (...args: Args) => Result) {
  return (...args: Args): Result => {
    statements += 1;
    return call(...args);
  };
}

async function statementsOf(asking: () => Promise<unknown>): Promise<number> {
  statements = 0;
  await asking();
  return statements;
}

function openReader(cacheBytesMax: number): { snapshots: Snapshots; reader: TableReader } {
  const connections = new CompanyConnections(counting());
  const reader = new TableReader({ connections, cacheBytesMax });
  const heads = createTableHeads(connections);
  return { snapshots: new Snapshots({ reader, heads, connections }), reader };
}

function openSnapshots(cacheBytesMax: number): Snapshots {
  return openReader(cacheBytesMax).snapshots;
}

async function filledTable() {
  const table = await createRowTable(harness, newIdentity());
  const datas = Array.from({ length: 500 }, (_, n) => ({ amount: n, status: "open", name: "x" }));
  await table.insertAll(datas);
  const { tableId, identity } = table;
  return { table, name: { tableId, companyId: identity.companyId } };
}

const page = { filter: [], sort: { column: NUMBER, descending: true }, limit: 10, offset: 0 };
const question = { column: SELECT, filter: [], search: "", limit: 10 };

describe("a table whose columns are in memory", () => {
  it("answers any question by one statement", async () => {
    const { name } = await filledTable();
    const snapshots = openSnapshots(10_000_000);
    await snapshots.queryRows(name, () => page);
    await snapshots.listDistinct(name, () => question);
    expect(await statementsOf(() => snapshots.queryRows(name, () => page))).toBe(1);
    expect(await statementsOf(() => snapshots.listDistinct(name, () => question))).toBe(1);
    expect(await statementsOf(() => snapshots.listRows(name, { limit: 10, offset: 0 }))).toBe(1);
    expect(await statementsOf(() => snapshots.listRows(name, { limit: 10, offset: 490 }))).toBe(1);
  });

  it("answers by one statement from any offset also when rows were deleted", async () => {
    const { table, name } = await filledTable();
    const { tableId, identity } = table;
    const { rows } = await openSnapshots(0).listRows(name, { limit: 3, offset: 100 });
    const batch = { tableId, insertDataJson: [], updates: [] };
    const deleteRowIds = rows.map(({ id }) => id);
    await harness.rows.batchRows({ ...batch, deleteRowIds }, { identity });
    const snapshots = openSnapshots(10_000_000);
    await snapshots.listRows(name, { limit: 10, offset: 200 });
    expect(await statementsOf(() => snapshots.listRows(name, { limit: 10, offset: 300 }))).toBe(1);
    const { rows: shown, total } = await snapshots.listRows(name, { limit: 1, offset: 300 });
    expect([shown[0]?.position, total]).toEqual([303, 497]);
  });

  it("costs two statements more after a write", async () => {
    const { table, name } = await filledTable();
    const snapshots = openSnapshots(10_000_000);
    await snapshots.queryRows(name, () => page);
    await table.insert({ amount: 1_000 });
    expect(await statementsOf(() => snapshots.queryRows(name, () => page))).toBe(3);
    await table.insert({ amount: 1_001 });
    await snapshots.listDistinct(name, () => question);
    await table.insert({ amount: 1_002 });
    expect(await statementsOf(() => snapshots.listDistinct(name, () => question))).toBe(1);
  });

  it("costs three statements the first time when it is small, however many columns are asked for", async () => {
    const { name } = await filledTable();
    const columns = [TEXT, NUMBER, SELECT];
    const figures = {
      filter: [],
      groupBy: null,
      measures: columns.map((column) => ({ function: "count" as const, column })),
    };
    // For the head of the table, for its rows, and for what has changed since.
    const snapshots = openSnapshots(10_000_000);
    expect(await statementsOf(() => snapshots.aggregate(name, () => figures))).toBe(3);
    const wholePage = openSnapshots(10_000_000);
    expect(await statementsOf(() => wholePage.queryRows(name, () => page))).toBe(3);
  });

  it("is read once for queries that come together", async () => {
    const { name } = await filledTable();
    const alone = openSnapshots(10_000_000);
    const one = await statementsOf(() => alone.queryRows(name, () => page));
    const together = openSnapshots(10_000_000);
    const many = Array.from({ length: 20 }, () => () => together.queryRows(name, () => page));
    const all = await statementsOf(() => Promise.all(many.map((ask) => ask())));
    // What is left to each is to read its own page, twice at the most.
    expect(all).toBeLessThanOrEqual(one + 19 * 2);
    expect(one).toBe(3);
  });
});

describe("memory for columns", () => {
  it("is given back down to what it may be, and all questions are answered all the same", async () => {
    const tables = await Promise.all(Array.from({ length: 4 }, filledTable));
    const unlimited = openReader(1_000_000_000);
    for (const { name } of tables) await unlimited.snapshots.queryRows(name, () => page);
    const bytesMax = Math.floor(unlimited.reader.bytes / 2);
    for (const limit of [bytesMax, 1]) {
      const { snapshots, reader } = openReader(limit);
      for (let round = 0; round < 3; round++) {
        const asked = tables.map(({ name }) => snapshots.queryRows(name, () => page));
        for (const { rows, total } of await Promise.all(asked)) {
          expect([rows[0]?.position, total]).toEqual([499, 500]);
        }
        expect(reader.bytes).toBeLessThanOrEqual(limit);
      }
    }
  });

  it("keeps what was asked last", async () => {
    const [first, second] = await Promise.all([filledTable(), filledTable()]);
    const probe = openReader(1_000_000_000);
    await probe.snapshots.queryRows(first.name, () => page);
    const snapshots = openSnapshots(Math.floor(probe.reader.bytes * 1.5));
    await snapshots.queryRows(first.name, () => page);
    await snapshots.queryRows(second.name, () => page);
    expect(await statementsOf(() => snapshots.queryRows(second.name, () => page))).toBe(1);
    expect(await statementsOf(() => snapshots.queryRows(first.name, () => page))).toBeGreaterThan(
      1,
    );
  });
});
