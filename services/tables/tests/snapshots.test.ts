import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { loop } from "@workflow/async";
import { openDatabase, sql } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import { createLogger } from "@workflow/service";
import {
  DeleteRowRequest,
  QueryRowsRequest,
  UpdateRowRequest,
} from "@workflow/proto/tables/v1/rows";
import { z } from "zod";
import { forgetOldDeletions } from "../src/store/deletions.ts";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Clients, Harness } from "./support/harness.ts";
import { changeRowTable, createRowTable, NUMBER, SELECT, TEXT } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";
import { randomFrom, TableModel } from "./support/table-model.ts";

let harness: Harness;
/** Another process of the service, which has room for nothing. */
let other: Clients;

beforeAll(async () => {
  harness = await startHarness();
  other = harness.connect(await harness.start({ cacheBytesMax: 1 }));
});
afterAll(() => harness.close());

const byAmount = { sort: "amount", show: "amount" };
const large = (amount: number) => ({
  amount: { condition: { operator: "greater_than", value: amount } },
});

async function deleteRows({ tableId, identity }: RowTable, deleteRowIds: string[]) {
  const batch = { tableId, insertDataJson: [], updates: [], deleteRowIds };
  await harness.rows.batchRows(batch, { identity });
}

describe("a query", () => {
  it("sees what any process has confirmed before, while others write", async () => {
    const table = await createRowTable(harness, newIdentity());
    const writers = Array.from({ length: 8 }, async (_, n) => {
      const random = randomFrom(n);
      const model = new TableModel(table, `writer ${n}`, random);
      for (let step = 0; step < 40; step++) {
        await model.change(random() < 0.5 ? harness : other);
        await model.check(random() < 0.5 ? harness : other);
      }
    });
    await Promise.all(writers);
  });

  it("sees rows added, changed and deleted by another process since the query before", async () => {
    const table = await createRowTable(harness, newIdentity());
    const { tableId, identity } = table;
    await table.insertAll([{ amount: 3 }, { amount: 1 }]);
    const there = table.at(other);
    expect((await table.query(byAmount)).values).toEqual([1, 3]);
    const rowId = await there.insert({ amount: 2 });
    expect((await table.query(byAmount)).values).toEqual([1, 2, 3]);
    const update = { tableId, rowId, dataJson: '{"amount":9}', merge: false };
    await other.rows.updateRow(UpdateRowRequest.create(update), { identity });
    expect((await table.query(byAmount)).values).toEqual([1, 3, 9]);
    await other.rows.deleteRow(DeleteRowRequest.create({ tableId, rowId }), { identity });
    expect((await table.query(byAmount)).values).toEqual([1, 3]);
  });

  it("gives the right page, however many rows were deleted", async () => {
    const table = await createRowTable(harness, newIdentity());
    const ids: string[] = [];
    for (let part = 0; part < 3; part++) {
      const { inserted } = await harness.rows.batchRows(
        {
          tableId: table.tableId,
          insertDataJson: Array.from({ length: 100 }, (_, n) => `{"amount":${part * 100 + n}}`),
          updates: [],
          deleteRowIds: [],
        },
        { identity: table.identity },
      );
      ids.push(...inserted.map(({ id }) => id));
    }
    const left = ids.map((id, amount) => ({ id, amount }));
    const random = randomFrom(7);
    for (let round = 0; round < 9; round++) {
      const gone = Array.from({ length: 25 }, () =>
        left.splice(Math.floor(random() * left.length), 1),
      );
      await deleteRows(
        table,
        gone.flat().map(({ id }) => id),
      );
      const amounts = left.map(({ amount }) => amount);
      for (const offset of [0, 1, left.length - 10, left.length, 1_000]) {
        for (const clients of [harness, other]) {
          const expected = { values: amounts.slice(offset, offset + 10), total: left.length };
          const page = { limit: 10, offset, show: "amount" };
          expect(await table.at(clients).query(page)).toEqual(expected);
          expect(await table.at(clients).query({ ...page, sort: "amount" })).toEqual(expected);
        }
      }
    }
  });

  it("has more pages as long as rows come after the one told", async () => {
    const table = await createRowTable(harness, newIdentity());
    const { tableId, identity } = table;
    await table.insertAll([{ amount: 1 }, { amount: 2 }, { amount: 3 }]);
    const page = (limit: number, offset: number, filterJson = "") =>
      harness.rows.queryRows(
        QueryRowsRequest.create({
          tableId,
          limit,
          offset,
          filterJson,
        }),
        { identity },
      );
    const told = [page(2, 0), page(3, 0), page(2, 1), page(2, 3), page(1, 0, '{"amount":{}}')];
    expect((await Promise.all(told)).map(({ hasMore, total }) => [hasMore, total])).toEqual([
      [true, 3],
      [false, 3],
      [false, 3],
      [false, 3],
      [true, 3],
    ]);
    const wrong = [page(0, 0), page(101, 0), page(1, -1)];
    for (const error of await Promise.all(wrong.map(errorOf))) {
      expect(error.reason).toBe("BAD_REQUEST");
    }
  });

  it("follows a change of a column's type and options at once", async () => {
    const table = await createRowTable(harness, newIdentity());
    const { tableId } = table;
    await table.insertAll([{ status: "won" }, { status: "lost" }, { status: "open" }]);
    const byStatus = { sort: "status", show: "status" };
    const change = (column: object) =>
      changeRowTable(harness, tableId, {
        columns: [TEXT, NUMBER, { ...SELECT, ...column }],
        rowEvents: false,
      });
    expect((await table.query(byStatus)).values).toEqual(["open", "won", "lost"]);
    await change({ options: ["lost", "won"] });
    expect((await table.query(byStatus)).values).toEqual(["lost", "won", "open"]);
    await change({ type: "text" });
    expect((await table.query(byStatus)).values).toEqual(["lost", "open", "won"]);
    await changeRowTable(harness, tableId, { columns: [TEXT], rowEvents: false });
    const error = await errorOf(table.query(byStatus));
    expect([error.reason, error.violations[0]?.path]).toEqual(["BAD_REQUEST", ["sort"]]);
    await change({ id: "later" });
    const later = { filter: { later: { condition: { operator: "is_empty" } } }, show: "status" };
    expect((await table.query(later)).total).toBe(3);
  });

  it("tells whole values although memory keeps their beginning only", async () => {
    const table = await createRowTable(harness, newIdentity(), {
      columns: [TEXT, { id: "doc", name: "Doc", type: "json" }],
    });
    const { tableId, identity } = table;
    const words = (count: number, last: string) => `${"lorem ".repeat(count)}${last}`;
    const list = Array.from({ length: 3_000 }, (_, n) => `item ${n}`);
    await table.insertAll([
      { n: 1, name: words(500, "End"), doc: list },
      { n: 2, name: words(500, "other"), doc: "short" },
      { n: 3, name: words(40_000, "END"), doc: [...list, "Needle"] },
      { n: 4, name: "the end", doc: { a: "needle" } },
    ]);
    const find = async (column: string, operator: string, value: string) => {
      const filter = { [column]: { condition: { operator, value } } };
      const here = await table.query({ filter, show: "n" });
      expect(await table.at(other).query({ filter, show: "n" })).toEqual(here);
      return here.values;
    };
    expect(await find("name", "ends_with", "end")).toEqual([1, 3, 4]);
    expect(await find("name", "contains", "m OTHER")).toEqual([2]);
    expect(await find("name", "not_contains", "end")).toEqual([2]);
    expect(await find("doc", "contains", "needle")).toEqual([3, 4]);
    const [row] = (
      await harness.rows.queryRows(
        QueryRowsRequest.create({
          tableId,
          limit: 1,
          offset: 2,
          filterJson: "",
        }),
        { identity },
      )
    ).rows;
    const changed = { tableId, rowId: row?.id ?? "", dataJson: '{"n":3,"name":"needle"}' };
    await other.rows.updateRow(UpdateRowRequest.create({ ...changed, merge: true }), { identity });
    expect(await find("name", "ends_with", "end")).toEqual([1, 4]);
    await other.rows.deleteRow(DeleteRowRequest.create({ tableId, rowId: row?.id ?? "" }), {
      identity,
    });
    expect(await find("doc", "contains", "needle")).toEqual([4]);
  });

  it("is right while long values change all the time", async () => {
    const table = await createRowTable(harness, newIdentity());
    const { tableId, identity } = table;
    const text = (last: string) => ({ name: `${"x".repeat(5_000)}${last}` });
    await table.insertAll([text("a"), text("a")]);
    const rowId = await table.insert(text("a"));
    const filter = { name: { condition: { operator: "ends_with", value: "a" } } };
    let isOver = false;
    const writing = (async () => {
      for (let n = 0; !isOver; n++) {
        const dataJson = JSON.stringify({ ...text("a"), n });
        await other.rows.updateRow(
          UpdateRowRequest.create({ tableId, rowId, dataJson, merge: false }),
          { identity },
        );
      }
    })();
    try {
      for (let n = 0; n < 30; n++) expect((await table.query({ filter, show: "n" })).total).toBe(3);
    } finally {
      isOver = true;
      await writing;
    }
  });

  it("finds its way back when deletions that it has not seen are forgotten", async () => {
    const table = await createRowTable(harness, newIdentity());
    await table.insertAll(Array.from({ length: 5 }, (_, amount) => ({ amount })));
    const rowId = await table.insert({ amount: 5 });
    expect((await table.query(byAmount)).total).toBe(6);
    await other.rows.deleteRow(DeleteRowRequest.create({ tableId: table.tableId, rowId }), {
      identity: table.identity,
    });
    await harness.database.query(sql.type(z.object({}))`
      update tables.row_deletions set deleted_at = now() - interval '16 minutes'
    `);
    const database = await openDatabase({
      connectionUri: harness.databaseUri,
      role: "workflow_tables",
      applicationName: "test",
    });
    try {
      await forgetOldDeletions(database);
    } finally {
      await database.end();
    }
    const left = await harness.database.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*)::integer as count from tables.row_deletions
    `);
    expect(left).toBe(0);
    expect((await table.query(byAmount)).values).toEqual([0, 1, 2, 3, 4]);
  });

  it("catches up with more changes than it is worth following one by one", async () => {
    const table = await createRowTable(harness, newIdentity(), { maxRows: 100_000 });
    await table.insertAll([{ amount: -1 }]);
    expect((await table.query(byAmount)).total).toBe(1);
    await table.insertAll(Array.from({ length: 5_000 }, (_, amount) => ({ amount })));
    expect((await table.query({ filter: large(4_990), ...byAmount })).values).toEqual([
      4_991, 4_992, 4_993, 4_994, 4_995, 4_996, 4_997, 4_998, 4_999,
    ]);
    await table.insertAll(Array.from({ length: 25_000 }, (_, n) => ({ amount: 5_000 + n })));
    const page = { ...byAmount, descending: true, limit: 2 };
    expect(await table.query(page)).toEqual({ values: [29_999, 29_998], total: 30_001 });
  });

  it("is answered rightly, or not at all, while connections break", async () => {
    const table = await createRowTable(harness, newIdentity());
    const random = randomFrom(11);
    const model = new TableModel(table, "writer", random);
    const either = () => (random() < 0.5 ? harness : other);
    const stopping = new AbortController();
    const { done } = loop({
      name: "break-connections",
      signal: stopping.signal,
      intervalMs: 100,
      logger: createLogger({ name: "test", level: "silent" }),
      run: breakOneConnection,
    });
    let failures = 0;
    /** Whether it went well; the only failure allowed is that the database is away. */
    const goesWell = async (trying: Promise<void>): Promise<boolean> => {
      const error = await trying.then(
        () => null,
        (reason: unknown) => reason,
      );
      if (error === null) return true;
      if (!isAppError(error) || error.reason !== "UNAVAILABLE") throw error;
      failures += 1;
      return false;
    };
    try {
      for (let step = 0; step < 60 || (failures < 5 && step < 2_000); step++) {
        // Nobody knows what became of a change that failed.
        if (!(await goesWell(model.change(either())))) model.relearn(await storedRows(table));
        while (!(await goesWell(model.check(either()))));
      }
    } finally {
      stopping.abort();
      await done;
    }
    expect(failures).toBeGreaterThanOrEqual(5);
  });
});

async function breakOneConnection(): Promise<void> {
  await harness.database.query(sql.type(z.object({}))`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where application_name = 'workflow-tables' and datname = current_database()
    order by random()
    limit 1
  `);
}

async function storedRows({ tableId }: RowTable) {
  return harness.database.any(sql.type(z.object({ id: z.string(), amount: z.number() }))`
    select r.id, (r.data ->> 'amount')::integer as amount
    from tables.rows as r
    join tables.tables as t on t.key = r.table_key
    where t.id = ${tableId}
  `);
}
