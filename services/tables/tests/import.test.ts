import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import type { ImportTableRequest, Table } from "@workflow/proto/tables/v1/tables";
import { ColumnType } from "@workflow/proto/tables/v1/tables";
import { QueryRowsRequest } from "@workflow/proto/tables/v1/rows";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import {
  column,
  countRecords,
  importMessages,
  listAuditEvents,
  newTable,
} from "./support/table-requests.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const identity = newIdentity();
const options = { identity };
const table = newTable({ columns: { columns: [column("n", { type: ColumnType.NUMBER })] } });
const numbered = (count: number): object[] => Array.from({ length: count }, (_, n) => ({ n }));

function importAll(
  messages: Iterable<ImportTableRequest> | AsyncIterable<ImportTableRequest>,
): Promise<Table> {
  return harness.tables.importTable(messages, options);
}

/** An import with the rows as texts, right or wrong. */
function* withTexts(...dataJson: string[]): Generator<ImportTableRequest> {
  yield { part: { $case: "table", value: table } };
  yield { part: { $case: "rows", value: { dataJson } } };
  yield { part: { $case: "end", value: { rowCount: dataJson.length } } };
}

const storedRow = z.object({ position: z.number(), data: z.string() });

async function storedRows(tableId: string) {
  return harness.database.any(sql.type(storedRow)`
    select r.position, r.data::text as data
    from tables.rows as r
    join tables.tables as t on t.key = r.table_key
    where t.id = ${tableId}
    order by r.position
  `);
}

/** Expects that a failed import leaves nothing behind. */
async function failing(call: () => Promise<unknown>) {
  const before = await countRecords(harness.database);
  const error = await errorOf(call());
  expect(await countRecords(harness.database)).toEqual(before);
  return error;
}

describe("ImportTable", () => {
  it("stores a table with its rows in the order given", async () => {
    const rows = numbered(2_500);
    const imported = await importAll(importMessages(table, rows, 700));
    expect(imported).toMatchObject({ name: "Customers", rowCount: 2_500, maxRows: 10_000 });
    const stored = await storedRows(imported.id);
    expect(stored.map(({ position }) => position)).toEqual(rows.map((_, index) => index));
    expect(stored.map(({ data }) => data)).toEqual(rows.map((row) => JSON.stringify(row)));
    expect(await harness.tables.getTable({ tableId: imported.id }, options)).toEqual(imported);
  });

  it("goes on at the next position when rows are added", async () => {
    const { id: tableId } = await importAll(importMessages(table, numbered(3)));
    const page = await harness.rows.queryRows(
      QueryRowsRequest.create({ tableId, sort: "n", filterJson: `{"n":{"values":[2]}}` }),
      options,
    );
    expect(page).toMatchObject({ total: 1, rows: [{ position: 2, dataJson: `{"n":2}` }] });
  });

  it("may have no rows", async () => {
    expect(await importAll(importMessages(table, []))).toMatchObject({ rowCount: 0 });
  });

  it("keys columns without an id by their name", async () => {
    const columns = [column("Name"), column("Age", { id: "age", type: ColumnType.NUMBER })];
    const imported = await importAll(importMessages(newTable({ columns: { columns } }), []));
    expect(imported.columns.map(({ id }) => id)).toEqual(["Name", "age"]);
  });

  it("refuses ids that collide, and columns of one name without ids", async () => {
    const collisions = [
      [column("Name"), column("Other", { id: "Name" })],
      [column("Name"), column("Name", { id: "x" })],
      [column("Name"), column("Name")],
    ];
    for (const columns of collisions) {
      const request = newTable({ columns: { columns } });
      const { reason, violations } = await failing(() => importAll(importMessages(request, [])));
      expect(reason).toBe("BAD_REQUEST");
      expect(violations.length).toBeGreaterThan(0);
      for (const { path } of violations) expect(path.join(".")).toMatch(/^columns\.[01]\.id$/);
    }
    const distinct = [column("Name", { id: "a" }), column("Name", { id: "b" })];
    await importAll(importMessages(newTable({ columns: { columns: distinct } }), []));
  });

  it("requires columns", async () => {
    const schemaJson = `{"columns":[{"name":"a","type":"text"}]}`;
    expect(
      await failing(() => importAll(importMessages(newTable({ schemaJson }), []))),
    ).toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["columns"], message: "is required" }],
    });
  });

  it("takes as many rows as maxRows says and not one more", async () => {
    const limited = { ...table, maxRows: 150 };
    const full = await importAll(importMessages(limited, numbered(150)));
    expect(full.rowCount).toBe(150);
    expect(await failing(() => importAll(importMessages(limited, numbered(151))))).toMatchObject({
      reason: "BAD_REQUEST",
      message: "The table may have at most 150 rows.",
      violations: [{ path: ["rows"] }],
    });
    expect(await failing(() => importAll(importMessages(table, numbered(10_001))))).toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["rows"], message: "must have at most 10000 items, as maxRows says" }],
    });
  });

  it("answers too many rows at once, without taking the rest", async () => {
    let made = 0;
    function* endless(): Generator<ImportTableRequest> {
      yield { part: { $case: "table", value: { ...table, maxRows: 10 } } };
      for (;;) {
        made += 1;
        yield { part: { $case: "rows", value: { dataJson: ["{}"] } } };
      }
    }
    expect(await failing(() => importAll(endless()))).toMatchObject({ reason: "BAD_REQUEST" });
    expect(made).toBeGreaterThan(10);
  });

  it("names the rows that are wrong, the first 50 problems of them", async () => {
    const { reason, violations } = await failing(() =>
      importAll(
        withTexts(
          `{"n":1}`,
          "[]",
          `{"n":`,
          `{"n":9007199254740993}`,
          `{"n":"\\u0000"}`,
          "null",
          `{"a":{"b":[1e999]}}`,
        ),
      ),
    );
    expect(reason).toBe("BAD_REQUEST");
    expect(violations.map(({ path }) => path.join("."))).toEqual([
      "rows.1",
      "rows.2",
      "rows.3.n",
      "rows.4",
      "rows.5",
      "rows.6.a.b.0",
    ]);
    const many = await failing(() =>
      importAll(withTexts(...Array.from({ length: 60 }, () => "1"))),
    );
    expect(many.violations.map(({ path: [, index] }) => index)).toEqual(
      Array.from({ length: 50 }, (_, index) => String(index)),
    );
  });

  it("takes rows of up to 1 MiB and keeps what they say", async () => {
    const limit = 1024 * 1024;
    const row = (bytes: number): string => `{"a":"${"é".repeat((bytes - 8) / 2)}"}`;
    const odd = `{"__proto__":{"a":1},"b":"line\\nbreak \\"quoted\\" \\\\ \u2028","a":1,"":[{}]}`;
    const imported = await importAll(withTexts(row(limit), odd, `{"a":1,"a": 2}`));
    const stored = await storedRows(imported.id);
    expect(stored.map(({ data }) => data)).toEqual([row(limit), odd, `{"a":2}`]);
    expect(await failing(() => importAll(withTexts(row(limit + 2))))).toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["rows", "0"] }],
    });
  });

  it("tells the audit log of the table, and of no row", async () => {
    const own = { identity: newIdentity() };
    const { id } = await harness.tables.importTable(importMessages(table, numbered(3)), own);
    const events = await listAuditEvents(harness.database, own.identity.companyId);
    expect(events).toMatchObject([
      {
        type: "table.created",
        data: { resourceId: id, changes: { rowCount: { from: null, to: 3 } } },
      },
    ]);
  });

  it("needs the scope workflows:write", async () => {
    const reader = { identity: newIdentity(["workflows:read"]) };
    expect(
      await errorOf(harness.tables.importTable(importMessages(table, []), reader)),
    ).toMatchObject({ reason: "FORBIDDEN" });
  });
});

describe("an import that is not whole", () => {
  it("is refused without the end, however many rows came", async () => {
    const [first, rows] = importMessages(table, numbered(10));
    const unfinished = [first, rows].filter((message) => message !== undefined);
    for (const messages of [unfinished, unfinished.slice(0, 1), []]) {
      expect(await failing(() => importAll(messages))).toMatchObject({
        reason: "BAD_REQUEST",
        message: "The requests ended before the message that says so.",
      });
    }
  });

  it("is refused when messages are missing, out of order or empty", async () => {
    const [first, rows, end] = importMessages(table, numbered(10));
    if (first === undefined || rows === undefined || end === undefined) throw new Error("no rows");
    const wrong = [
      [rows, end],
      [first, end],
      [first, first, rows, end],
      [first, rows, end, rows],
      [first, rows, rows, end],
      [first, { part: undefined }, end],
    ];
    for (const messages of wrong) {
      expect(await failing(() => importAll(messages))).toMatchObject({ reason: "BAD_REQUEST" });
    }
  });

  it("leaves nothing when its source breaks", async () => {
    const broken = new Error("The file ended.");
    async function* messages(): AsyncGenerator<ImportTableRequest> {
      for (const message of importMessages(table, numbered(500))) {
        if (message.part?.$case === "end") throw broken;
        yield message;
      }
    }
    const before = await countRecords(harness.database);
    await expect(importAll(messages())).rejects.toBe(broken);
    expect(await countRecords(harness.database)).toEqual(before);
  });

  it("keeps no connection while its client stalls, and leaves nothing when that gives up", async () => {
    const before = await countRecords(harness.database);
    const controller = new AbortController();
    let isStalling = false;
    async function* messages(): AsyncGenerator<ImportTableRequest> {
      for (const message of importMessages(table, numbered(500))) {
        if (message.part?.$case === "end") break;
        yield message;
      }
      isStalling = true;
      await new Promise(() => {});
    }
    const call = errorOf(
      harness.tables.importTable(messages(), { ...options, signal: controller.signal }),
    );
    await waitFor(() => isStalling);
    // The rows before the stall may still be on their way into the table.
    await waitFor(async () => {
      const { busy } = await harness.database.one(sql.type(z.object({ busy: z.number() }))`
        select count(*) as busy
        from pg_stat_activity
        where datname = current_database()
          and application_name = 'workflow-tables'
          and state <> 'idle'
      `);
      return busy === 0;
    });
    controller.abort();
    expect(await call).toMatchObject({ reason: "UNAVAILABLE" });
    expect(await countRecords(harness.database)).toEqual(before);
  });
});
