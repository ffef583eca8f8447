import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { z } from "zod";
import { auditOf } from "../support/audit-log.ts";
import {
  COLUMNS,
  dataOf,
  importCsv,
  importJson,
  made,
  refusedPaths,
} from "../support/table-imports.ts";
import { rowsOf } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const MIB = 1024 * 1024;
const UNKNOWN = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

async function tableCount(): Promise<number> {
  return z.array(z.unknown()).parse((await system.call("GET", "/tables")).data).length;
}

describe("an import of JSON", () => {
  it("makes a table with its rows in the order given", async () => {
    const rows = Array.from({ length: 100 }, (_, n) => ({ Name: `Row ${n}`, more: [n] }));
    const table = made(
      await importJson(system, {
        name: "Imported",
        description: "By hand",
        columns: [
          { name: "Name", type: "text", required: true },
          { id: "s", name: "State", type: "select", options: ["a"] },
        ],
        schema: { view: 1 },
        metadata: { m: 1 },
        maxRows: 100,
        rows,
      }),
    );
    expect(table).toMatchObject({ name: "Imported", rowCount: 100, maxRows: 100 });
    expect(table.columns).toEqual([
      { id: "Name", name: "Name", type: "text", required: true },
      { id: "s", name: "State", type: "select", options: ["a"] },
    ]);
    expect(table.schema).toEqual({ view: 1, columns: table.columns });
    expect(await dataOf(system, table.id)).toEqual(rows);
  });

  it("is one event in the audit log", async () => {
    const requestId = `import-${newUuid()}`;
    const body = { name: "T", columns: COLUMNS, rows: [{ n: "a" }, { n: "b" }] };
    const headers = { "x-request-id": requestId };
    const { id } = made(await system.call("POST", "/tables/import", { body, headers }));
    const events = await auditOf(system, requestId);
    expect(events).toMatchObject([{ action: "table.created", resourceId: id }]);
  });

  it("keeps every row as it was sent", async () => {
    const { id } = made(
      await importJson(
        system,
        '{"rows":[{"__proto__":{"a":1},"b":1.0,"a":"\\u00e9"},{}],"columns":[],"name":"T"}',
      ),
    );
    const page = await system.call("GET", `/tables/${id}/rows`);
    expect(page.text).toContain('"data":{"__proto__":{"a":1},"b":1,"a":"é"}');
  });

  it.each<[object, string[]]>([
    [{}, ["name", "columns", "rows"]],
    [{ name: "T", columns: COLUMNS }, ["rows"]],
    [{ name: "T", rows: [] }, ["columns"]],
    [{ name: "", columns: COLUMNS, rows: {} }, ["name", "rows"]],
    [{ name: "T", columns: COLUMNS, rows: [{}, [], null] }, ["rows.1", "rows.2"]],
    [{ name: "T", columns: COLUMNS, rows: [], maxRows: 0 }, ["maxRows"]],
    [{ name: "T", columns: COLUMNS, rows: [], metadata: 1 }, ["metadata"]],
  ])("is refused with the paths of its mistakes: %j", async (body, paths) => {
    expect(refusedPaths(await importJson(system, body))).toEqual(paths);
  });

  it("is refused for columns whose ids collide", async () => {
    const columns = (...list: object[]) => ({ name: "T", columns: list, rows: [] });
    const a = { name: "A", type: "text" };
    expect(refusedPaths(await importJson(system, columns(a, a))).length).toBeGreaterThan(0);
    expect(
      refusedPaths(await importJson(system, columns(a, { id: "A", name: "B", type: "text" }))),
    ).not.toEqual([]);
    const apart = columns({ ...a, id: "1" }, { ...a, id: "2" });
    expect(made(await importJson(system, apart)).columns.map(({ id }) => id)).toEqual(["1", "2"]);
  });

  it("leaves nothing behind when one row is wrong", async () => {
    const before = await tableCount();
    const good = Array(2_000).fill('{"n":"a"}').join(",");
    const bad = '{"n":1e400},{"n":9007199254740993},{"x":[{"y":1e999}]}';
    const answer = await importJson(system, `{"name":"T","columns":[],"rows":[${good},${bad}]}`);
    const paths = refusedPaths(answer);
    expect(paths.map((path) => path.replace(".data", ""))).toEqual([
      "rows.2000.n",
      "rows.2001.n",
      "rows.2002.x.0.y",
    ]);
    expect(await tableCount()).toBe(before);
  });

  it("has at most maxRows rows", async () => {
    const body = (count: number, maxRows?: number) => ({
      name: "T",
      columns: COLUMNS,
      rows: Array.from({ length: count }, () => ({ n: "a" })),
      ...(maxRows === undefined ? {} : { maxRows }),
    });
    expect(made(await importJson(system, body(3, 3))).rowCount).toBe(3);
    expect(refusedPaths(await importJson(system, body(4, 3)))).toEqual(["rows"]);
    expect(made(await importJson(system, body(10_000))).rowCount).toBe(10_000);
    expect(refusedPaths(await importJson(system, body(10_001)))).toEqual(["rows"]);
  });

  it("goes into a folder of the company", async () => {
    const body = { name: "T", columns: [], rows: [] };
    for (const folderId of [UNKNOWN, "no-id"]) {
      expect(await importJson(system, { ...body, folderId })).toMatchObject({ status: 404 });
    }
    const folder = await system.call("POST", "/table-folders", { body: { name: "Imports" } });
    const { id: folderId } = z.looseObject({ id: z.string() }).parse(folder.data);
    expect(made(await importJson(system, { ...body, folderId })).folderId).toBe(folderId);
    expect(made(await importCsv(system, "a\n1\n", { folderId })).folderId).toBe(folderId);
    expect(await importCsv(system, "a\n1\n", { folderId: UNKNOWN })).toMatchObject({ status: 404 });
  });

  it("may have 64 MiB, and no more; other requests are served meanwhile", async () => {
    const row = `{"n":"${"x".repeat(900)}","amount":12.5}`;
    const fixed = `{"name":"Large","columns":[],"maxRows":100000,"rows":[${Array(70_000)
      .fill(row)
      .join(",")}],"pad":""}`;
    const body = (bytes: number) =>
      fixed.replace('"pad":""', `"pad":"${"x".repeat(bytes - fixed.length)}"`);
    const over = await importJson(system, body(64 * MIB + 1));
    expect(over).toMatchObject({ status: 413, error: { code: "PAYLOAD_TOO_LARGE" } });

    let isDone = false;
    const importing = importJson(system, body(64 * MIB)).finally(() => (isDone = true));
    let served = 0;
    while (!isDone) {
      expect((await system.call("GET", "/table-folders")).status).toBe(200);
      served += 1;
    }
    const table = made(await importing);
    expect(table.rowCount).toBe(70_000);
    expect(served).toBeGreaterThan(5);
    await system.call("DELETE", `/tables/${table.id}`);
  });

  it.each([
    ['{"name":"T","columns":[],"rows":[{}}', 400],
    ["[]", 400],
    ["", 400],
    ["null", 400],
    [`{"name":"T","columns":[],"rows":[{"a":${"[".repeat(70)}${"]".repeat(70)}}]}`, 400],
  ])("is refused when it is no such document: %s", async (raw, status) => {
    expect(await importJson(system, raw)).toMatchObject({ status, error: { code: "BAD_REQUEST" } });
  });
});

describe("an import of CSV", () => {
  it("recognises the types of columns and leaves blanks out", async () => {
    const file =
      "\ufeffName,n,ok,day,web,mail,code\r\n" +
      'Ada,1,true,2024-01-31,https://a.example,a@a.example,0042\r\n"B, ""b""",-2.5,false,,,,1e5\r\n';
    const table = made(
      await importCsv(system, file, { description: "D", maxRows: "7", rowEvents: "true" }),
    );
    expect(table).toMatchObject({
      name: "T",
      description: "D",
      rowCount: 2,
      maxRows: 7,
      rowEvents: true,
    });
    expect(table.columns.map(({ id, name, type }) => [id, name, type])).toEqual([
      ["Name", "Name", "text"],
      ["n", "n", "number"],
      ["ok", "ok", "boolean"],
      ["day", "day", "date"],
      ["web", "web", "url"],
      ["mail", "mail", "email"],
      ["code", "code", "text"],
    ]);
    expect(await dataOf(system, table.id)).toEqual([
      {
        Name: "Ada",
        n: 1,
        ok: true,
        day: "2024-01-31",
        web: "https://a.example",
        mail: "a@a.example",
        code: "0042",
      },
      { Name: 'B, "b"', n: -2.5, ok: false, code: "1e5" },
    ]);
  });

  it("takes the types that it is given", async () => {
    const columns = JSON.stringify([
      { name: "a", type: "text" },
      { name: "b", type: "select", options: ["x", "y"], id: "col_b", required: true },
    ]);
    const table = made(await importCsv(system, "a;b\n1;x\n", { columns, delimiter: ";" }));
    expect(table.columns).toEqual([
      { id: "a", name: "a", type: "text" },
      { id: "col_b", name: "b", type: "select", options: ["x", "y"], required: true },
    ]);
    expect(await dataOf(system, table.id)).toEqual([{ a: "1", col_b: "x" }]);
  });

  it("names the lines that are wrong, and leaves nothing behind", async () => {
    const before = await tableCount();
    expect(refusedPaths(await importCsv(system, "a,b\n1\n2,3\n4,5,6\n"))).toEqual([
      "lines.2",
      "lines.4",
    ]);
    expect(refusedPaths(await importCsv(system, 'a,b\n1,"x\n'))).toEqual(["lines.2"]);
    expect(refusedPaths(await importCsv(system, "a,a\n"))).toEqual(["lines.1"]);
    const columns = JSON.stringify([{ name: "a", type: "number" }]);
    expect(refusedPaths(await importCsv(system, "a\n1\nx\n", { columns }))).toEqual(["lines.3"]);
    const lost = await importCsv(system, "a\n9007199254740993\nx\n\n1e400\n1\n", { columns });
    expect(refusedPaths(lost)).toEqual(["lines.2", "lines.3", "lines.5"]);
    // Found by the service, which knows rows and not lines.
    const large = await importCsv(system, `a\nx\n\n${"\u0001".repeat(200_000)}\n`);
    expect(refusedPaths(large)).toEqual(["lines.4"]);
    expect(large.error?.message).toBe(
      "The file is not valid: line 4 must have at most 1048576 bytes.",
    );
    expect(await tableCount()).toBe(before);
  });

  it.each<[Record<string, string>, string]>([
    [{ name: "" }, "name"],
    [{ name: "x".repeat(256) }, "name"],
    [{ maxRows: "0" }, "maxRows"],
    [{ maxRows: "100001" }, "maxRows"],
    [{ maxRows: "many" }, "maxRows"],
    [{ rowEvents: "yes" }, "rowEvents"],
    [{ delimiter: "ab" }, "delimiter"],
    [{ format: "xml" }, "format"],
    [{ columns: "{" }, "columns"],
    [{ columns: "{}" }, "columns"],
    [{ columns: '[{"name":"a","type":"txt"}]' }, "columns.0.type"],
    [{ columns: '[{"name":"b","type":"text"}]' }, "columns.0.name"],
  ])("is refused for %j", async (params, path) => {
    expect(refusedPaths(await importCsv(system, "a\n1\n", params))).toEqual([path]);
  });

  it("needs a name, and a body that is said to be CSV", async () => {
    const headers = { "content-type": "text/csv" };
    const unnamed = await system.call("POST", "/tables/import?format=csv", { raw: "a\n", headers });
    expect(refusedPaths(unnamed)).toEqual(["name"]);
    for (const type of ["application/json", "text/plain", "text/csv; charset=latin1"]) {
      expect(await importCsv(system, "a\n1\n", {}, type)).toMatchObject({
        status: 415,
        error: { code: "UNSUPPORTED_MEDIA_TYPE" },
      });
    }
    expect(
      (await importCsv(system, "a\n1\n", {}, "Text/CSV; charset=UTF-8; header=present")).status,
    ).toBe(201);
    const asJson = await system.call("POST", "/tables/import", { raw: "a\n1\n", headers });
    expect(asJson).toMatchObject({ status: 415 });
    expect((await importCsv(system, "")).status).toBe(400);
  });

  it("has at most maxRows rows", async () => {
    expect(made(await importCsv(system, "a\n1\n2\n", { maxRows: "2" })).rowCount).toBe(2);
    expect((await importCsv(system, "a\n1\n2\n3\n", { maxRows: "2" })).status).toBe(400);
  });

  it("works for large files as for small ones", async () => {
    const lines = Array.from({ length: 30_000 }, (_, n) => `Row ${n},${n},"x, ""${n}"""\n`);
    const table = made(await importCsv(system, `a,b,c\n${lines.join("")}`, { maxRows: "30000" }));
    expect(table).toMatchObject({ rowCount: 30_000 });
    const body = { sort: "b", order: "desc", limit: 1 };
    const page = await system.call("POST", `/tables/${table.id}/rows/query`, { body });
    expect(rowsOf(page)[0]?.data).toEqual({ a: "Row 29999", b: 29_999, c: 'x, "29999"' });
    expect(refusedPaths(await importCsv(system, `a,b,c\n${lines.join("")}1,2\n`))).toEqual([
      "lines.30002",
    ]);
  });
});
