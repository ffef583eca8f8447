import { expect } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import { z } from "zod";
import type { DrivenSystem } from "../../support/driven-system.ts";
import { send } from "../support/commands.ts";
import type { Action } from "../support/commands.ts";

type Data = Record<string, unknown>;

/** One table: its rows in their order, and the columns that filters may name. */
export interface TableModel {
  id: string;
  isThere: boolean;
  maxRows: number;
  columns: { id: string; name: string; type: string }[];
  rows: { id: string; data: Data }[];
  /** Ids of rows that are gone. */
  gone: string[];
}

const COLUMNS = [
  { id: "name", name: "Name", type: "text" },
  { id: "count", name: "Count", type: "number" },
];

const withId = z.looseObject({ id: z.string() });
const rowList = z.array(z.looseObject({ id: z.string(), data: z.looseObject({}) }));

/** A new table and its model. */
export async function createModel(system: DrivenSystem): Promise<TableModel> {
  const body = { name: "Modelled", columns: COLUMNS, maxRows: 6 };
  const { data } = await send(system, ["POST", "/tables", body], [201]);
  const { id } = withId.parse(data);
  return { id, isThere: true, maxRows: 6, columns: [...COLUMNS], rows: [], gone: [] };
}

/** Values that fit their columns, blanks, and what no column knows. */
const data: fc.Arbitrary<Data> = fc.record(
  {
    name: fc.constantFrom("ada", "Ada", "bob", "", null),
    count: fc.constantFrom(0, 1, 2, -1.5, null),
    undeclared: fc.constantFrom("kept", "ada"),
  },
  { requiredKeys: [] },
);
const index = fc.nat({ max: 5 });
const columnId = fc.constantFrom("name", "count", "more");

/** Everything that is done to a table. */
export const TABLE_ACTIONS: fc.Arbitrary<Action<TableModel>>[] = [
  data.map((given) => ({ name: `insert ${show(given)}`, run: insert(given) })),
  fc.tuple(index, data, fc.boolean()).map(([at, given, merge]) => ({
    name: `${merge ? "merge" : "replace"} row ${at} by ${show(given)}`,
    when: ({ rows }) => at < rows.length,
    run: update(at, given, merge),
  })),
  index.map((at) => ({
    name: `delete row ${at}`,
    when: ({ rows }) => at < rows.length,
    run: remove(at),
  })),
  fc.constant({
    name: "change a row that is gone",
    when: ({ gone }) => gone.length > 0,
    run: async ({ id, gone }, system) => {
      const path = `/tables/${id}/rows/${gone[0]}`;
      await send(system, ["GET", path], [404, "NOT_FOUND"]);
      await send(system, ["PATCH", path, { data: {} }], [404, "NOT_FOUND"]);
      await send(system, ["DELETE", path], [404, "NOT_FOUND"]);
    },
  }),
  fc.tuple(columnId, fc.constantFrom("is_empty", "is_not_empty")).map(([column, operator]) => ({
    name: `count where ${column} ${operator}`,
    run: query(
      column,
      { condition: { operator } },
      (value) => isBlank(value) === (operator === "is_empty"),
    ),
  })),
  fc.constantFrom("ada", "bob", "none").map((text) => ({
    name: `count where name equals ${text}`,
    run: query("name", { condition: { operator: "equals", value: text } }, equalsText(text)),
  })),
  fc.constantFrom(0, 1, -2).map((least) => ({
    name: `count where count is over ${least}`,
    run: query(
      "count",
      { condition: { operator: "greater_than", value: least } },
      (value) => typeof value === "number" && value > least,
    ),
  })),
  fc.subarray(["ada", "Ada", null]).map((values) => ({
    name: `count where name is one of ${show(values)}`,
    run: query("name", { values }, (value) => values.some((each) => isSame(each, value))),
  })),
  fc.constant({ name: "read", run: read }),
  fc.integer({ min: 1, max: 8 }).map((maxRows) => ({
    name: `allow ${maxRows} rows`,
    run: patch({ maxRows }, (model) => void (model.maxRows = maxRows)),
  })),
  fc.boolean().map((hasMore) => ({
    name: hasMore ? "add a column" : "drop a column",
    run: setColumns(hasMore),
  })),
  fc.tuple(data, index).map(([given, at]) => ({
    name: `insert ${show(given)} and delete row ${at} in one batch`,
    when: ({ rows, maxRows }) => at < rows.length && rows.length < maxRows,
    run: batch(given, at),
  })),
  fc.constant({
    name: "delete the table",
    // What comes after it is 404 and no more: late in a sequence.
    when: ({ gone }) => gone.length > 1,
    run: async (model, system) => {
      const expected = model.isThere ? ([200] as const) : ([404, "NOT_FOUND"] as const);
      await send(system, ["DELETE", `/tables/${model.id}`], expected);
      Object.assign(model, { isThere: false, rows: [] });
    },
  }),
];

function insert(given: Data): Action<TableModel>["run"] {
  return async (model, system) => {
    const request = ["POST", `/tables/${model.id}/rows`, { data: given }] as const;
    const isFull = model.rows.length >= model.maxRows;
    const answer = await send(
      system,
      request,
      orGone(model, isFull ? [400, "BAD_REQUEST"] : [201]),
    );
    if (answer.status === 400) {
      expect(answer.error?.message).toBe(
        `Table has reached its maximum row limit of ${model.maxRows}`,
      );
    }
    if (answer.status !== 201) return;
    expect(answer.data).toMatchObject({ data: given });
    model.rows.push({ id: withId.parse(answer.data).id, data: given });
  };
}

function update(at: number, given: Data, merge: boolean): Action<TableModel>["run"] {
  return async (model, system) => {
    const row = model.rows[at];
    if (row === undefined) return;
    const path = `/tables/${model.id}/rows/${row.id}${merge ? "?merge=true" : ""}`;
    const answer = await send(system, ["PATCH", path, { data: given }], [200]);
    row.data = merge ? { ...row.data, ...given } : given;
    expect(answer.data).toMatchObject({ id: row.id });
    expect(Object(answer.data).data).toEqual(row.data);
  };
}

function remove(at: number): Action<TableModel>["run"] {
  return async (model, system) => {
    const [row] = model.rows.splice(at, 1);
    if (row === undefined) return;
    await send(system, ["DELETE", `/tables/${model.id}/rows/${row.id}`], [200]);
    model.gone.push(row.id);
  };
}

function query(
  column: string,
  clause: object,
  matches: (value: unknown) => boolean,
): Action<TableModel>["run"] {
  return async (model, system) => {
    const isKnown = model.columns.some(({ id }) => id === column);
    const body = { filter: { [column]: clause }, limit: 100 };
    const request = ["POST", `/tables/${model.id}/rows/query`, body] as const;
    const answer = await send(
      system,
      request,
      orGone(model, isKnown ? [200] : [400, "BAD_REQUEST"]),
    );
    if (answer.status !== 200) return;
    const expected = model.rows.filter((row) => matches(row.data[column]));
    expect(rowList.parse(answer.data).map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    expect(answer.rowsMeta?.total).toBe(expected.length);
  };
}

async function read(model: TableModel, system: DrivenSystem): Promise<void> {
  const { data: table } = await send(system, ["GET", `/tables/${model.id}`], orGone(model, [200]));
  if (!model.isThere) return;
  const { maxRows, columns, rows } = model;
  expect(table).toMatchObject({ rowCount: rows.length, maxRows, columns });
  const { data: page } = await send(system, ["GET", `/tables/${model.id}/rows?limit=100`], [200]);
  expect(rowList.parse(page).map(({ id, data: kept }) => ({ id, data: kept }))).toEqual(rows);
}

function patch(body: object, change: (model: TableModel) => void): Action<TableModel>["run"] {
  return async (model, system) => {
    await send(system, ["PATCH", `/tables/${model.id}`, body], orGone(model, [200]));
    if (model.isThere) change(model);
  };
}

/** What a column held stays when it goes (D35). */
function setColumns(hasMore: boolean): Action<TableModel>["run"] {
  const more = { id: "more", name: "More", type: "text" };
  const columns = hasMore ? [...COLUMNS, more] : COLUMNS;
  return patch({ columns }, (model) => void (model.columns = [...columns]));
}

function batch(given: Data, at: number): Action<TableModel>["run"] {
  return async (model, system) => {
    const row = model.rows[at];
    if (row === undefined) return;
    const body = { insert: [{ data: given }], delete: [row.id] };
    const answer = await send(system, ["POST", `/tables/${model.id}/rows/batch`, body], [200]);
    const inserted = rowList.parse(Object(answer.data).inserted);
    model.rows.splice(at, 1);
    model.gone.push(row.id);
    model.rows.push(...inserted.map(({ id }) => ({ id, data: given })));
  };
}

function orGone(
  { isThere }: Readonly<TableModel>,
  expected: readonly [number, string?],
): readonly [number, string?] {
  return isThere ? expected : [404, "NOT_FOUND"];
}

/** D34: missing, null and the empty text. */
function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/** Without regard to case, as conditions do. */
function equalsText(text: string): (value: unknown) => boolean {
  return (value) => typeof value === "string" && value.toLowerCase() === text;
}

/** As lists of exact values do: null stands for every blank. */
function isSame(listed: unknown, value: unknown): boolean {
  return listed === null ? isBlank(value) : listed === value;
}

function show(value: unknown): string {
  return JSON.stringify(value);
}
