import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import {
  COLUMNS,
  dataOf,
  importCsv,
  importJson,
  made,
  refusedPaths,
} from "../support/table-imports.ts";
import { makeTable } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const UNKNOWN = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

async function download(path: string, method = "GET") {
  const response = await fetch(`${system.origin}/api/v1${path}`, {
    method,
    headers: { "x-api-key": system.acme.key },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe("an export", () => {
  const rows = [
    { n: "Ada", amount: 1.5, doc: { a: [1] }, undeclared: true },
    { n: 'B, "b"\nline', amount: null, doc: "text" },
    { n: "=1+1", amount: -3 },
    {},
  ];
  const table = () =>
    makeTable(system, system.acme.key, {
      columns: COLUMNS,
      rows,
      fields: { name: 'Ünder "quotes"/\n' },
    });

  it("as CSV has a header of names and a line for each row", async () => {
    const { id } = await table();
    const { status, headers, text } = await download(`/tables/${id}/rows/export?format=csv`);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(headers.get("content-disposition")).toBe(
      "attachment; filename=\"_nder _quotes___.csv\"; filename*=UTF-8''%C3%9Cnder%20%22quotes%22%2F%0A.csv",
    );
    expect(headers.get("link")).toContain("api-catalog");
    expect(headers.get("x-request-id")).not.toBeNull();
    const lines = text.replaceAll("\r\n", "\n");
    expect(lines).toBe(
      'Name,"Amount, net",Doc\n' +
        'Ada,1.5,"{""a"":[1]}"\n' +
        '"B, ""b""\nline",,text\n' +
        "=1+1,-3,\n,,\n",
    );
  });

  it("as JSON Lines has all data with its row's id", async () => {
    const { id, rowIds } = await table();
    const { status, headers, text } = await download(`/tables/${id}/rows/export?format=jsonl`);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/jsonl; charset=utf-8");
    expect(headers.get("content-disposition")).toContain(".jsonl");
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(lines).toEqual(rows.map((data, index) => ({ id: rowIds[index], data })));
  });

  it("comes back as the same table by an import", async () => {
    const { id } = await table();
    const { text } = await download(`/tables/${id}/rows/export?format=csv`);
    const columns = JSON.stringify(COLUMNS.filter(({ type }) => type !== "json"));
    const again = made(await importCsv(system, text, { columns }));
    expect(again.columns.map(({ id: columnId, name }) => [columnId, name])).toEqual([
      ["n", "Name"],
      ["amount", "Amount, net"],
      ["Doc", "Doc"],
    ]);
    expect(await dataOf(system, again.id)).toEqual([
      { n: "Ada", amount: 1.5, Doc: '{"a":[1]}' },
      { n: 'B, "b"\nline', Doc: "text" },
      { n: "=1+1", amount: -3 },
      {},
    ]);
    const lines = await download(`/tables/${id}/rows/export?format=jsonl`);
    const datas = lines.text
      .trimEnd()
      .split("\n")
      .map((line) => z.object({ data: z.looseObject({}) }).parse(JSON.parse(line)).data);
    const copy = made(await importJson(system, { name: "Copy", columns: COLUMNS, rows: datas }));
    expect(await dataOf(system, copy.id)).toEqual(rows);
  });

  it("of a table without rows is a header, or nothing", async () => {
    const { id } = await makeTable(system, system.acme.key, { columns: COLUMNS });
    const csv = await download(`/tables/${id}/rows/export?format=csv`);
    expect(csv.text.trimEnd()).toBe('Name,"Amount, net",Doc');
    const jsonl = await download(`/tables/${id}/rows/export?format=jsonl`);
    expect(jsonl).toMatchObject({ status: 200, text: "" });
  });

  it("has no body for HEAD", async () => {
    const { id } = await table();
    const { status, headers, text } = await download(
      `/tables/${id}/rows/export?format=csv`,
      "HEAD",
    );
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(text).toBe("");
  });

  it("is whole however many rows there are, and may be left in the middle", async () => {
    const many = Array.from({ length: 30_000 }, (_, n) => ({ n: `Row ${n}`, amount: n }));
    const { id } = await makeTable(system, system.acme.key, {
      columns: COLUMNS,
      rows: many,
      fields: { maxRows: 30_000 },
    });
    const path = `/tables/${id}/rows/export?format=jsonl`;
    const { text } = await download(path);
    const lines = text.trimEnd().split("\n");
    expect(lines).toHaveLength(30_000);
    expect(JSON.parse(lines[29_999] ?? "")).toMatchObject({ data: many[29_999] });

    const response = await fetch(`${system.origin}/api/v1${path}`, {
      headers: { "x-api-key": system.acme.key },
    });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect((await system.call("GET", `/tables/${id}`)).status).toBe(200);
  });

  it("is asked for by its format, of a table of the company", async () => {
    const { id } = await table();
    for (const query of ["", "?format=", "?format=xml", "?format=CSV"]) {
      const answer = await system.call("GET", `/tables/${id}/rows/export${query}`);
      expect(refusedPaths(answer)).toEqual(["format"]);
    }
    const theirs = await makeTable(system, system.globex.key);
    for (const tableId of [theirs.id, UNKNOWN, "no-id"]) {
      const answer = await system.call("GET", `/tables/${tableId}/rows/export?format=csv`);
      expect(answer).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
    }
  });
});
