import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import {
  DeleteRowRequest,
  InsertRowRequest,
  InsertRowsRequest,
  QueryRowsRequest,
  UpdateRowRequest,
} from "@workflow/proto/tables/v1/rows";
import { z } from "zod";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { createRowTable, deleteRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

async function listAll({ tableId, identity }: RowTable) {
  const { rows } = await harness.rows.queryRows(
    QueryRowsRequest.create({
      tableId,
      limit: 100,
      offset: 0,
      filterJson: "",
    }),
    { identity },
  );
  return rows;
}

describe("inserting a row", () => {
  it("returns it as it is stored, keys that no column declares included", async () => {
    const { tableId, identity } = await createRowTable(harness, newIdentity());
    const dataJson = '{ "zeta": 1, "name": "A", "__proto__": {"x": [1.50]}, "name": "B" }';
    const row = await harness.rows.insertRow(InsertRowRequest.create({ tableId, dataJson }), {
      identity,
    });
    expect(row.dataJson).toBe('{"zeta":1,"name":"B","__proto__":{"x":[1.5]}}');
    expect(row.position).toBe(0);
    expect(row.updatedAt).toEqual(row.createdAt);
    expect(await harness.rows.getRow({ tableId, rowId: row.id }, { identity })).toEqual(row);
  });

  it("gives positions that grow and are never given again", async () => {
    const table = await createRowTable(harness, newIdentity());
    const { tableId, identity } = table;
    await table.insertAll([{ name: "a" }, { name: "b" }]);
    const last = await table.insert({ name: "c" });
    await harness.rows.deleteRow(DeleteRowRequest.create({ tableId, rowId: last }), { identity });
    await table.insert({ name: "d" });
    const rows = await listAll(table);
    expect(rows.map(({ position }) => position)).toEqual([0, 1, 3]);
  });

  it("refuses data that is no object, with the place of what is wrong", async () => {
    const { tableId, identity } = await createRowTable(harness, newIdentity());
    for (const dataJson of ["[]", "null", "{", '{"a":1e999}', '{"a":"\\u0000"}', ""]) {
      const error = await errorOf(
        harness.rows.insertRow(InsertRowRequest.create({ tableId, dataJson }), { identity }),
      );
      expect(error.reason).toBe("BAD_REQUEST");
      expect(error.violations[0]?.path[0]).toBe("data");
    }
  });

  it("adds exactly as many rows as the table may have, however many come at once", async () => {
    const maxRows = 37;
    const { tableId, identity } = await createRowTable(harness, newIdentity(), { maxRows });
    const other = harness.connect(await harness.start());
    const inserts = Array.from({ length: 100 }, (_, n) => {
      const { rows } = n % 2 === 0 ? harness : other;
      return rows.insertRow(InsertRowRequest.create({ tableId, dataJson: `{"n":${n}}` }), {
        identity,
      });
    });
    const outcomes = await Promise.allSettled(inserts);
    const added = outcomes.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
    const errors = outcomes.flatMap((each) => (each.status === "rejected" ? each.reason : []));
    expect(added.map(({ position }) => position).sort((a = 0, b = 0) => a - b)).toEqual(
      Array.from({ length: maxRows }, (_, n) => n),
    );
    expect(errors).toHaveLength(63);
    for (const error of errors) {
      expect(error).toMatchObject({
        reason: "BAD_REQUEST",
        message: "Table has reached its maximum row limit of 37",
      });
    }
  });

  it("keeps the order of rows that one caller adds one after the other", async () => {
    const table = await createRowTable(harness, newIdentity());
    for (let n = 0; n < 5; n++) await table.insert({ n });
    const rows = await listAll(table);
    expect(rows.map(({ dataJson }) => dataJson)).toEqual([0, 1, 2, 3, 4].map((n) => `{"n":${n}}`));
  });
});

describe("inserting rows of several requests", () => {
  it("accepts or refuses each on its own, in the order of the requests", async () => {
    const identity = newIdentity();
    const first = await createRowTable(harness, identity, { maxRows: 2 });
    const second = await createRowTable(harness, identity);
    const foreign = await createRowTable(harness, newIdentity());
    const requests = [
      { tableId: first.tableId, dataJson: '{"n":1}' },
      { tableId: first.tableId, dataJson: "[]" },
      { tableId: second.tableId, dataJson: '{"n":2}' },
      { tableId: foreign.tableId, dataJson: '{"n":3}' },
      { tableId: "nonsense", dataJson: '{"n":4}' },
      { tableId: first.tableId, dataJson: '{"n":5}' },
      { tableId: first.tableId, dataJson: '{"n":6}' },
    ];
    const { results } = await harness.rows.insertRows(InsertRowsRequest.create({ requests }), {
      identity,
    });
    expect(results.map(({ row, failure }) => row?.dataJson ?? failure?.reason)).toEqual([
      '{"n":1}',
      "BAD_REQUEST",
      '{"n":2}',
      "NOT_FOUND",
      "NOT_FOUND",
      '{"n":5}',
      "BAD_REQUEST",
    ]);
    expect(results[1]?.failure?.violations[0]?.path).toEqual(["data"]);
    expect(results[6]?.failure?.message).toBe("Table has reached its maximum row limit of 2");
  });

  it("takes 1 to 200 requests", async () => {
    const { tableId, identity } = await createRowTable(harness, newIdentity());
    const requests = (count: number) => ({
      requests: Array.from({ length: count }, () => ({ tableId, dataJson: "{}" })),
    });
    for (const count of [0, 201]) {
      const error = await errorOf(
        harness.rows.insertRows(InsertRowsRequest.create(requests(count)), { identity }),
      );
      expect(error.reason).toBe("BAD_REQUEST");
    }
    const { results } = await harness.rows.insertRows(InsertRowsRequest.create(requests(200)), {
      identity,
    });
    expect(results.every(({ row }) => row !== undefined)).toBe(true);
  });
});

describe("updating a row", () => {
  it("replaces its data, and nothing else", async () => {
    const { tableId, identity } = await createRowTable(harness, newIdentity());
    const before = await harness.rows.insertRow(
      InsertRowRequest.create({ tableId, dataJson: '{"a":1,"b":2}' }),
      { identity },
    );
    const update = { tableId, rowId: before.id.toUpperCase(), dataJson: '{"b":3}', merge: false };
    const after = await harness.rows.updateRow(UpdateRowRequest.create(update), { identity });
    expect(after).toEqual({ ...before, dataJson: '{"b":3}', updatedAt: after.updatedAt });
    expect(await harness.rows.getRow({ tableId, rowId: before.id }, { identity })).toEqual(after);
  });

  it("lays members over those that are there, when asked to merge", async () => {
    const { tableId, identity } = await createRowTable(harness, newIdentity());
    const dataJson = '{"a":1,"b":{"x":1},"__proto__":5}';
    const { id: rowId } = await harness.rows.insertRow(
      InsertRowRequest.create({ tableId, dataJson }),
      { identity },
    );
    const update = { tableId, rowId, dataJson: '{"b":{"y":2},"c":null}', merge: true };
    const { dataJson: merged } = await harness.rows.updateRow(UpdateRowRequest.create(update), {
      identity,
    });
    expect(merged).toBe('{"a":1,"b":{"y":2},"__proto__":5,"c":null}');
  });

  it("loses nothing when members of one row are merged at the same time", async () => {
    const { tableId, identity } = await createRowTable(harness, newIdentity());
    const { id: rowId } = await harness.rows.insertRow(
      InsertRowRequest.create({ tableId, dataJson: "{}" }),
      { identity },
    );
    const other = harness.connect(await harness.start());
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const { rows } = n % 2 === 0 ? harness : other;
        const update = { tableId, rowId, dataJson: `{"k${n}":${n}}`, merge: true };
        return rows.updateRow(UpdateRowRequest.create(update), { identity });
      }),
    );
    const { dataJson } = await harness.rows.getRow({ tableId, rowId }, { identity });
    expect(Object.keys(z.record(z.string(), z.number()).parse(JSON.parse(dataJson)))).toHaveLength(
      20,
    );
  });

  it("does not let merging make a row too large", async () => {
    const { tableId, identity } = await createRowTable(harness, newIdentity());
    const half = "x".repeat(600_000);
    const dataJson = JSON.stringify({ a: half });
    const { id: rowId } = await harness.rows.insertRow(
      InsertRowRequest.create({ tableId, dataJson }),
      { identity },
    );
    const update = { tableId, rowId, dataJson: JSON.stringify({ b: half }), merge: true };
    const error = await errorOf(
      harness.rows.updateRow(UpdateRowRequest.create(update), { identity }),
    );
    expect(error.reason).toBe("BAD_REQUEST");
    expect(await harness.rows.getRow({ tableId, rowId }, { identity })).toMatchObject({ dataJson });
  });
});

describe("deleting a row", () => {
  it("makes room for another one, and the row is gone", async () => {
    const table = await createRowTable(harness, newIdentity(), { maxRows: 1 });
    const { tableId, identity } = table;
    const rowId = await table.insert({});
    expect((await errorOf(table.insert({}))).reason).toBe("BAD_REQUEST");
    await harness.rows.deleteRow(DeleteRowRequest.create({ tableId, rowId }), { identity });
    const again = harness.rows.deleteRow(DeleteRowRequest.create({ tableId, rowId }), { identity });
    expect((await errorOf(again)).reason).toBe("NOT_FOUND");
    await table.insert({});
  });

  it("counts each row once, however many delete it at once", async () => {
    const table = await createRowTable(harness, newIdentity(), { maxRows: 3 });
    const { tableId, identity } = table;
    await table.insertAll([{}, {}]);
    const rowId = await table.insert({});
    const other = harness.connect(await harness.start());
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) =>
        (n % 2 === 0 ? harness : other).rows.deleteRow(
          DeleteRowRequest.create({ tableId, rowId }),
          { identity },
        ),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await table.insert({});
    expect((await errorOf(table.insert({}))).reason).toBe("BAD_REQUEST");
  });
});

describe("rows of tables that a caller has not", () => {
  it("are not found: of another company, unknown, of ids of the wrong form, deleted", async () => {
    const table = await createRowTable(harness, newIdentity());
    const deleted = await createRowTable(harness, table.identity);
    const rowId = await table.insert({ name: "a" });
    const goneRow = await deleted.insert({});
    await deleted.query({ sort: "name", show: "name" });
    await deleteRowTable(harness, deleted.tableId);
    for (const [tableId, row, identity] of [
      [table.tableId, rowId, newIdentity()],
      [newUuid(), rowId, table.identity],
      ["nonsense", rowId, table.identity],
      [deleted.tableId, goneRow, table.identity],
    ] as const) {
      const page = { tableId, offset: 0 };
      const calls = [
        harness.rows.getRow({ tableId, rowId: row }, { identity }),
        harness.rows.insertRow(InsertRowRequest.create({ tableId, dataJson: "{}" }), { identity }),
        harness.rows.updateRow(
          UpdateRowRequest.create({ tableId, rowId: row, dataJson: "{}", merge: false }),
          { identity },
        ),
        harness.rows.updateRow(
          UpdateRowRequest.create({ tableId, rowId: row, dataJson: "{}", merge: true }),
          { identity },
        ),
        harness.rows.deleteRow(DeleteRowRequest.create({ tableId, rowId: row }), { identity }),
        harness.rows.batchRows(
          { tableId, insertDataJson: ["{}"], updates: [], deleteRowIds: [] },
          { identity },
        ),
        harness.rows.queryRows(QueryRowsRequest.create({ ...page, filterJson: "" }), { identity }),
        harness.rows.queryRows(QueryRowsRequest.create({ ...page, filterJson: "{}" }), {
          identity,
        }),
        harness.rows.listDistinctValues(
          { tableId, columnId: "name", filterJson: "", search: "", legacyFilter: false },
          { identity },
        ),
        harness.rows.aggregateRows(
          { tableId, filterJson: "", groupBy: "", measures: [{ function: 1, columnId: "" }] },
          { identity },
        ),
      ];
      for (const error of await Promise.all(calls.map(errorOf))) {
        expect(error).toMatchObject({
          reason: "NOT_FOUND",
          message: "Table not found",
          details: undefined,
        });
      }
    }
    expect((await table.query({ show: "name" })).values).toEqual(["a"]);
  });

  it("are not to be had by way of another table of the same company", async () => {
    const table = await createRowTable(harness, newIdentity());
    const { tableId, identity } = await createRowTable(harness, table.identity);
    const rowId = await table.insert({});
    const calls = [
      harness.rows.getRow({ tableId, rowId }, { identity }),
      harness.rows.updateRow(
        UpdateRowRequest.create({ tableId, rowId, dataJson: "{}", merge: false }),
        { identity },
      ),
      harness.rows.updateRow(
        UpdateRowRequest.create({ tableId, rowId, dataJson: "{}", merge: true }),
        { identity },
      ),
      harness.rows.deleteRow(DeleteRowRequest.create({ tableId, rowId }), { identity }),
      harness.rows.getRow({ tableId, rowId: "nonsense" }, { identity }),
    ];
    for (const error of await Promise.all(calls.map(errorOf))) {
      expect(error).toMatchObject({ reason: "NOT_FOUND", message: "Row not found" });
    }
  });

  it("need scopes: one to read, another to write", async () => {
    const { tableId, identity } = await createRowTable(harness, newIdentity());
    const reader = { ...identity, scopes: ["workflows:read"] };
    const writer = { ...identity, scopes: ["workflows:write"] };
    const insert = { tableId, dataJson: "{}" };
    const page = {
      tableId,
      offset: 0,
      filterJson: "",
    };
    const refused = harness.rows.insertRow(InsertRowRequest.create(insert), { identity: reader });
    expect((await errorOf(refused)).reason).toBe("FORBIDDEN");
    const hidden = harness.rows.queryRows(QueryRowsRequest.create(page), { identity: writer });
    expect((await errorOf(hidden)).reason).toBe("FORBIDDEN");
    await harness.rows.insertRow(InsertRowRequest.create(insert), { identity: writer });
    expect(
      (await harness.rows.queryRows(QueryRowsRequest.create(page), { identity: reader })).total,
    ).toBe(1);
  });
});
