import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { encode, expectBad, makeMixedTable, namesOf } from "../support/mixed-table.ts";
import { makeTable } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const UNKNOWN = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";
const NOT_FOUND = { status: 404, error: { code: "NOT_FOUND" } };

let system: WholeSystem;
let id: string;
beforeAll(async () => {
  system = await startWholeSystem();
  id = await makeMixedTable(system);
});
afterAll(() => system.stop());

const query = (body?: object) => system.call("POST", `/tables/${id}/rows/query`, { body });
const list = (params: Record<string, string> = {}) =>
  system.call("GET", `/tables/${id}/rows?${encode(params)}`);

describe("a page of rows", () => {
  it("has by default the first fifty in the table's order", async () => {
    for (const answer of [await query(), await query({}), await list()]) {
      expect(answer.status).toBe(200);
      expect(namesOf(answer)).toEqual(["Ada", "Bob", "Cid", "Eve", "fay", "GUS"]);
      expect(answer.rowsMeta).toEqual({ total: 6, limit: 50, offset: 0, hasMore: false });
    }
  });

  it("has limit rows from offset on, and says what there is beyond", async () => {
    for (const [limit, offset, names, hasMore] of [
      [2, 0, ["Ada", "Bob"], true],
      [2, 4, ["fay", "GUS"], false],
      [4, 3, ["Eve", "fay", "GUS"], false],
      [1, 5, ["GUS"], false],
      [1, 6, [], false],
      [100, 1_000_000, [], false],
      [1, Number.MAX_SAFE_INTEGER, [], false],
    ] as const) {
      const answer = await query({ limit, offset });
      expect(namesOf(answer)).toEqual(names);
      expect(answer.rowsMeta).toEqual({ total: 6, limit, offset, hasMore });
    }
    const legacy = await list({ limit: "2", offset: "3" });
    expect(namesOf(legacy)).toEqual(["Eve", "fay"]);
    expect(legacy.rowsMeta).toEqual({ total: 6, limit: 2, offset: 3, hasMore: true });
  });

  it("counts the total behind the filter", async () => {
    const filter = { amount: { condition: { operator: "equals", value: 10 } } };
    const answer = await query({ filter, limit: 1, offset: 1 });
    expect(answer.rowsMeta).toEqual({ total: 2, limit: 1, offset: 1, hasMore: false });
    const beyond = await query({ filter, offset: 2 });
    expect(beyond.rowsMeta).toEqual({ total: 2, limit: 50, offset: 2, hasMore: false });
    expect(beyond.data).toEqual([]);
  });

  it.each<[object, string]>([
    [{ limit: 0 }, "limit"],
    [{ limit: 101 }, "limit"],
    [{ limit: 1.5 }, "limit"],
    [{ limit: "5" }, "limit"],
    [{ limit: null }, "limit"],
    [{ offset: -1 }, "offset"],
    [{ offset: 0.5 }, "offset"],
    [{ offset: 9_007_199_254_740_992 }, "offset"],
    [{ filter: [] }, "filter"],
    [{ filter: "x" }, "filter"],
    [{ filter: null }, "filter"],
    [{ sort: 1 }, "sort"],
    [{ sort: "" }, "sort"],
    [{ sort: "nothing" }, "sort"],
    [{ sort: "extra" }, "sort"],
    [{ sort: "Name" }, "sort"],
    [{ sort: "n", order: "up" }, "order"],
    [{ order: "DESC" }, "order"],
  ])("is refused for %j", async (body, field) => {
    expectBad(await query(body), field);
  });

  it.each<[Record<string, string>, string]>([
    [{ limit: "0" }, "limit"],
    [{ limit: "101" }, "limit"],
    [{ limit: "1.0" }, "limit"],
    [{ limit: "" }, "limit"],
    [{ offset: "-1" }, "offset"],
    [{ offset: "x" }, "offset"],
    [{ sort: "nothing" }, "sort"],
    [{ sort: "" }, "sort"],
    [{ order: "up" }, "order"],
    [{ filter: "" }, "filter"],
    [{ filter: "{" }, "filter"],
    [{ filter: "[]" }, "filter"],
    [{ filter: '"n"' }, "filter"],
    [{ filter: "null" }, "filter"],
    [{ filter: '{"n":"\\u0000"}' }, "filter"],
    [{ filter: `{"n":${"[".repeat(64)}${"]".repeat(64)}}` }, "filter"],
  ])("in its older form is refused for %j", async (params, field) => {
    expectBad(await list(params), field);
  });

  it("is of a table of the company", async () => {
    const theirs = await makeTable(system, system.globex.key);
    for (const tableId of [theirs.id, UNKNOWN, "no-id"]) {
      expect(await system.call("POST", `/tables/${tableId}/rows/query`)).toMatchObject(NOT_FOUND);
      expect(await system.call("GET", `/tables/${tableId}/rows`)).toMatchObject(NOT_FOUND);
    }
    // What is wrong with the request itself comes first (D2).
    const bad = await system.call("GET", `/tables/${UNKNOWN}/rows?limit=0`);
    expectBad(bad, "limit");
  });
});

describe("the order of rows", () => {
  it.each<[string, string, string[]]>([
    // Fitting values, then those of another type, then blanks; equal ones by position.
    ["amount", "asc", ["Bob", "GUS", "Ada", "fay", "Cid", "Eve"]],
    ["amount", "desc", ["Ada", "fay", "GUS", "Bob", "Cid", "Eve"]],
    ["n", "asc", ["Ada", "Bob", "Cid", "Eve", "fay", "GUS"]],
    ["n", "desc", ["GUS", "fay", "Eve", "Cid", "Bob", "Ada"]],
    ["ok", "asc", ["Bob", "fay", "Ada", "GUS", "Cid", "Eve"]],
    ["ok", "desc", ["Ada", "GUS", "Bob", "fay", "Cid", "Eve"]],
    ["day", "asc", ["fay", "Ada", "Bob", "Cid", "Eve", "GUS"]],
    ["day", "desc", ["Bob", "Ada", "fay", "Cid", "Eve", "GUS"]],
    ["state", "asc", ["Bob", "fay", "Ada", "Cid", "Eve", "GUS"]],
    ["state", "desc", ["Cid", "Ada", "fay", "Bob", "Eve", "GUS"]],
  ])("by %s %s", async (sort, order, names) => {
    expect(namesOf(await query({ sort, order }))).toEqual(names);
    expect(namesOf(await list({ sort, order }))).toEqual(names);
    const pages: string[] = [];
    for (let offset = 0; offset < 6; offset += 2) {
      pages.push(...namesOf(await query({ sort, order, limit: 2, offset })));
    }
    expect(pages).toEqual(names);
  });

  it("is ascending unless told otherwise, and not asked for without a column", async () => {
    expect(namesOf(await query({ sort: "amount" }))[0]).toBe("Bob");
    expect(namesOf(await query({ order: "desc" }))[0]).toBe("Ada");
  });
});
