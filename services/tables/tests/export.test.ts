import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { InsertRowRequest } from "@workflow/proto/tables/v1/rows";
import { ColumnType, ExportFormat } from "@workflow/proto/tables/v1/tables";
import type { Column } from "@workflow/proto/tables/v1/tables";
import { waitFor } from "@workflow/testkit";
import { parse } from "csv-parse/sync";
import { z } from "zod";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { column, importMessages, newTable, tableChange } from "./support/table-requests.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const options = { identity: newIdentity() };

async function importRows(columns: readonly Column[], rows: readonly object[]): Promise<string> {
  const request = newTable({ columns: { columns: [...columns] }, maxRows: 100_000 });
  const { id } = await harness.tables.importTable(importMessages(request, rows), options);
  return id;
}

async function exportText(tableId: string, format: ExportFormat): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const { chunk } of harness.tables.exportRows({ tableId, format }, options)) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

describe("a CSV export", () => {
  it("has a header of names and a line for each row, in the table's order", async () => {
    const columns = [
      column("Name", { id: "name" }),
      column("Age", { id: "age", type: ColumnType.NUMBER }),
      column('Is, "quoted"', { id: "is", type: ColumnType.BOOLEAN }),
      column("More", { id: "more", type: ColumnType.JSON }),
    ];
    const tableId = await importRows(columns, [
      { name: "Ada", age: 36.5, is: true, more: { b: [1, "x"], a: 0 }, undeclared: "left out" },
      { name: 'Say "hi"', age: -0.001, is: false, more: "text" },
      { name: "two\nlines, one comma", more: [] },
      { name: "", age: null, is: "yes", more: null },
      { age: "12", name: " spaces ", is: 1e21 },
      {},
    ]);
    expect(await exportText(tableId, ExportFormat.CSV)).toBe(
      [
        `Name,Age,"Is, ""quoted""",More`,
        `Ada,36.5,true,"{""b"":[1,""x""],""a"":0}"`,
        `"Say ""hi""",-0.001,false,text`,
        `"two\nlines, one comma",,,[]`,
        `,,yes,`,
        ` spaces ,12,1e+21,`,
        `,,,`,
        "",
      ].join("\r\n"),
    );
  });

  it("keeps values that a spreadsheet would take for formulas", async () => {
    const values = ["=1+1", "+1", "-1", "@x", "\tx"];
    const tableId = await importRows(
      [column("v")],
      values.map((v) => ({ v })),
    );
    const records: unknown = parse(await exportText(tableId, ExportFormat.CSV));
    expect(records).toEqual([["v"], ...values.map((v) => [v])]);
  });

  it("loses no blank of a single column, and no odd column", async () => {
    const tableId = await importRows([column("v")], [{ v: "a" }, {}, { v: "b" }]);
    expect(await exportText(tableId, ExportFormat.CSV)).toBe(`v\r\na\r\n""\r\nb\r\n`);
    const odd = await importRows(
      [column("p", { id: "__proto__" }), column("t", { id: "toString" })],
      [{}, JSON.parse(`{"__proto__": "own", "toString": 1}`)],
    );
    expect(await exportText(odd, ExportFormat.CSV)).toBe("p,t\r\n,\r\nown,1\r\n");
  });

  it("of a table without columns is empty, of one without rows the header", async () => {
    expect(await exportText(await importRows([], [{ a: 1 }]), ExportFormat.CSV)).toBe("");
    const tableId = await importRows([column("a"), column("b")], []);
    expect(await exportText(tableId, ExportFormat.CSV)).toBe("a,b\r\n");
  });
});

describe("a JSONL export", () => {
  it("has id and data of each row as they are stored", async () => {
    const rows = [{ b: 1, a: "ü\u2028\n" }, {}, JSON.parse(`{"__proto__":1}`)];
    const tableId = await importRows([column("a")], rows);
    const text = await exportText(tableId, ExportFormat.JSONL);
    const lines = text.split("\n");
    expect(lines.pop()).toBe("");
    expect(
      lines.map((line) => line.replace(/^\{"id":"[0-9a-f-]{36}","data":(.*)\}$/s, "$1")),
    ).toEqual(rows.map((row) => JSON.stringify(row)));
    expect(await exportText(await importRows([], []), ExportFormat.JSONL)).toBe("");
  });

  it("holds every row of a large table once, in chunks of whole lines", async () => {
    const rows = Array.from({ length: 5_000 }, (_, n) => ({ n, text: "x".repeat(n % 300) }));
    const tableId = await importRows([column("n")], rows);
    const sizes: number[] = [];
    const numbers: unknown[] = [];
    const line = z.object({ data: z.object({ n: z.number() }) });
    const format = ExportFormat.JSONL;
    for await (const { chunk } of harness.tables.exportRows({ tableId, format }, options)) {
      sizes.push(chunk.byteLength);
      const text = chunk.toString();
      expect(text.endsWith("\n")).toBe(true);
      for (const each of text.trimEnd().split("\n"))
        numbers.push(line.parse(JSON.parse(each)).data.n);
    }
    expect(numbers).toEqual(rows.map(({ n }) => n));
    expect(sizes.length).toBeGreaterThan(5);
    expect(Math.max(...sizes)).toBeLessThan(128 * 1024);
  });

  it("holds rows of a megabyte, whether they pack well or not", async () => {
    const noise = Array.from({ length: 30_000 }, () => newUuid()).join("");
    const rows = Array.from({ length: 12 }, (_, n) => ({
      n,
      text: n % 2 === 0 ? "x".repeat(1_000_000) : noise.slice(0, 1_000_000),
    }));
    const tableId = await importRows([column("n")], rows);
    const text = await exportText(tableId, ExportFormat.JSONL);
    expect(text.match(/"n":\d+/g)).toEqual(rows.map(({ n }) => `"n":${n}`));
    expect(text.length).toBeGreaterThan(12_000_000);
  });
});

describe("an export while the table changes", () => {
  it("holds the rows as they were when it began", async () => {
    const rows = Array.from({ length: 120 }, (_, n) => ({ n, text: "x".repeat(200_000) }));
    const tableId = await importRows([column("n")], rows);
    const format = ExportFormat.JSONL;
    let text = "";
    let isFirst = true;
    for await (const { chunk } of harness.tables.exportRows({ tableId, format }, options)) {
      if (isFirst) {
        isFirst = false;
        // What is ahead of the client is not the whole table: the rest is not read yet.
        await harness.rows.insertRow(
          InsertRowRequest.create({ tableId, dataJson: `{"n":-1}` }),
          options,
        );
        await harness.database.query(sql.type(z.object({}))`
          update tables.rows set data = '{"n":-2}' where position = 119
        `);
        await harness.tables.updateTable(
          tableChange(tableId, { columns: { columns: [] } }),
          options,
        );
        await harness.tables.deleteTable({ tableId }, options);
      }
      text += chunk.toString("latin1");
    }
    expect(text.match(/"n":-?\d+/g)).toEqual(rows.map(({ n }) => `"n":${n}`));
  });

  it("ends, and gives its connection back, when the client leaves", async () => {
    const rows = Array.from({ length: 120 }, (_, n) => ({ n, text: "x".repeat(200_000) }));
    const tableId = await importRows([column("n")], rows);
    const format = ExportFormat.JSONL;
    for (let round = 0; round < 6; round += 1) {
      for await (const { chunk } of harness.tables.exportRows({ tableId, format }, options)) {
        expect(chunk.byteLength).toBeGreaterThan(0);
        break;
      }
      await waitFor(async () => (await openTransactions()) === 0);
    }
    expect((await exportText(tableId, format)).length).toBeGreaterThan(24_000_000);
  });

  it("leaves half of the connections to others", async () => {
    // So much more than is read ahead that the first export waits for its client.
    const rows = Array.from({ length: 240 }, (_, n) => ({ n, text: "x".repeat(200_000) }));
    const request = { tableId: await importRows([column("n")], rows), format: ExportFormat.JSONL };
    const { tables } = harness.connect(await harness.start({ databasePoolSize: 2 }));
    for await (const { chunk } of tables.exportRows(request, options)) {
      expect(chunk.byteLength).toBeGreaterThan(0);
      const second = Array.fromAsync(tables.exportRows(request, options));
      expect(await errorOf(second)).toMatchObject({
        reason: "UNAVAILABLE",
        message: "Too many exports are under way at the moment.",
      });
      expect(await tables.getTable({ tableId: request.tableId }, options)).toMatchObject({
        rowCount: 240,
      });
      break;
    }
  });
});

describe("ExportRows", () => {
  it("does not find tables that are unknown or of another company", async () => {
    const tableId = await importRows([column("a")], [{ a: 1 }]);
    const stranger = { identity: newIdentity() };
    const cases = [
      [tableId, stranger],
      [newUuid(), options],
      ["x", options],
    ] as const;
    for (const [id, who] of cases) {
      const request = { tableId: id, format: ExportFormat.CSV };
      const all = Array.fromAsync(harness.tables.exportRows(request, who));
      expect(await errorOf(all)).toMatchObject({ reason: "NOT_FOUND" });
    }
  });

  it("needs a format and the scope workflows:read", async () => {
    const tableId = await importRows([column("a")], []);
    const request = { tableId, format: ExportFormat.UNSPECIFIED };
    const all = Array.fromAsync(harness.tables.exportRows(request, options));
    expect(await errorOf(all)).toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["format"] }],
    });
    const writer = { identity: newIdentity(["workflows:write"]) };
    const refused = Array.fromAsync(
      harness.tables.exportRows({ tableId, format: ExportFormat.CSV }, writer),
    );
    expect(await errorOf(refused)).toMatchObject({ reason: "FORBIDDEN" });
  });
});

async function openTransactions(): Promise<number> {
  const { open } = await harness.database.one(sql.type(z.object({ open: z.number() }))`
    select count(*) as open
    from pg_stat_activity
    where datname = current_database()
      and application_name = 'workflow-tables'
      and xact_start is not null
  `);
  return open;
}
