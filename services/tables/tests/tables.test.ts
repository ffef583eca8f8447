import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { DeleteRowRequest, InsertRowRequest } from "@workflow/proto/tables/v1/rows";
import { ColumnType } from "@workflow/proto/tables/v1/tables";
import type { Column, Table } from "@workflow/proto/tables/v1/tables";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import {
  column,
  countRecords,
  importMessages,
  listAuditEvents,
  newTable,
  tableChange,
} from "./support/table-requests.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const identity = newIdentity();
const options = { identity };

function create(fields: Parameters<typeof newTable>[0] = {}): Promise<Table> {
  return harness.tables.createTable(newTable(fields), options);
}

function update(table: Table, fields: Parameters<typeof tableChange>[1]): Promise<Table> {
  return harness.tables.updateTable(tableChange(table.id, fields), options);
}

const idsOf = (columns: readonly Column[]): string[] => columns.map(({ id }) => id);

describe("CreateTable", () => {
  it("stores a table with defaults for what is not said", async () => {
    const table = await create();
    expect(table).toMatchObject({
      name: "Customers",
      columns: [],
      schemaJson: "{}",
      metadataJson: "{}",
      maxRows: 10_000,
      rowCount: 0,
      rowEvents: false,
    });
    expect(table.description).toBeUndefined();
    expect(table.folderId).toBeUndefined();
    expect(table.updatedAt).toEqual(table.createdAt);
    expect(await harness.tables.getTable({ tableId: table.id }, options)).toEqual(table);
  });

  it("keeps a name as it is given, of 1 to 255 characters", async () => {
    const names = [" padded ", "x".repeat(255), "😀".repeat(255), "<b>'; drop table", "\t"];
    for (const name of names) expect((await create({ name })).name).toBe(name);
    for (const name of ["", "x".repeat(256), "😀".repeat(256), "a\0b"]) {
      expect(await errorOf(create({ name }))).toMatchObject({
        reason: "BAD_REQUEST",
        violations: [{ path: ["name"] }],
      });
    }
  });

  it("takes from 1 to 100,000 rows at most", async () => {
    for (const maxRows of [1, 100_000]) expect((await create({ maxRows })).maxRows).toBe(maxRows);
    for (const maxRows of [0, 100_001, -1]) {
      expect(await errorOf(create({ maxRows }))).toMatchObject({
        reason: "BAD_REQUEST",
        violations: [{ path: ["maxRows"], message: "must be an integer from 1 to 100000" }],
      });
    }
  });

  it("names all wrong fields at once", async () => {
    const wrong = { name: "", maxRows: 0, schemaJson: "[]", metadataJson: "{", description: "\0" };
    const { violations } = await errorOf(create(wrong));
    expect(violations.map(({ path }) => path.join("."))).toEqual([
      "name",
      "description",
      "maxRows",
      "schema",
      "metadata",
    ]);
  });

  it("gives columns ids and writes them into the schema", async () => {
    const table = await create({
      columns: {
        columns: [
          column("Name", { required: true }),
          column("Kind", { id: "kind", type: ColumnType.SELECT, options: ["b", "a"] }),
        ],
      },
      schemaJson: `{"title": "T", "columns": "replaced", "__proto__": {"x": 1}}`,
    });
    const [first, second] = table.columns;
    expect(first).toMatchObject({ name: "Name", type: ColumnType.TEXT, required: true });
    expect(first?.id).toMatch(/^col_[0-9a-z]{26}$/);
    expect(second).toEqual({
      id: "kind",
      name: "Kind",
      type: ColumnType.SELECT,
      required: undefined,
      options: ["b", "a"],
    });
    expect(table.schemaJson).toBe(
      `{"title":"T","columns":[{"id":"${first?.id}","name":"Name","type":"text","required":true},` +
        `{"id":"kind","name":"Kind","type":"select","options":["b","a"]}],"__proto__":{"x":1}}`,
    );
  });

  it("takes columns from the schema when there are no others", async () => {
    const schemaJson = `{"columns":[{"name":"Age","type":"number"}],"more":[1]}`;
    const table = await create({ schemaJson });
    expect(table.columns).toMatchObject([{ name: "Age", type: ColumnType.NUMBER }]);
    expect(JSON.parse(table.schemaJson)).toMatchObject({
      columns: [{ id: table.columns[0]?.id, name: "Age", type: "number" }],
      more: [1],
    });
    expect(
      await errorOf(create({ schemaJson: `{"columns":[{"name":"Age","type":"text[]"}]}` })),
    ).toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["schema", "columns", "0", "type"] }],
    });
  });

  it("refuses columns without type, select without options, and an id used twice", async () => {
    const columns = {
      columns: [
        column("A", { type: ColumnType.UNSPECIFIED }),
        column("B", { type: ColumnType.SELECT }),
      ],
    };
    const { violations } = await errorOf(create({ columns }));
    expect(violations.map(({ path }) => path.join("."))).toEqual([
      "columns.0.type",
      "columns.1.options",
    ]);
    const twice = { columns: [column("A", { id: "x" }), column("B", { id: "x" })] };
    expect(await errorOf(create({ columns: twice }))).toMatchObject({
      violations: [{ path: ["columns", "1", "id"] }],
    });
  });

  it("takes documents of up to 1 MiB and 64 levels", async () => {
    const limit = 1024 * 1024;
    const metadata = (bytes: number): string => `{"a":"${"x".repeat(bytes - 8)}"}`;
    expect((await create({ metadataJson: metadata(limit) })).metadataJson).toHaveLength(limit);
    const levels = (count: number): string => `${`{"a":`.repeat(count)}1${"}".repeat(count)}`;
    expect((await create({ schemaJson: levels(64) })).schemaJson).toBe(levels(64));
    for (const wrong of [
      { metadataJson: metadata(limit + 1) },
      { metadataJson: levels(65) },
      { metadataJson: `{"a": "\\u0000"}` },
      { metadataJson: `{"a": "\\ud800"}` },
      { metadataJson: "null" },
    ]) {
      expect(await errorOf(create(wrong))).toMatchObject({
        reason: "BAD_REQUEST",
        violations: [{ path: ["metadata"] }],
      });
    }
  });

  it("needs the scope workflows:write", async () => {
    const reader = { identity: newIdentity(["workflows:read"]) };
    expect(await errorOf(harness.tables.createTable(newTable(), reader))).toMatchObject({
      reason: "FORBIDDEN",
    });
  });
});

describe("ListTables", () => {
  it("lists all of the company, newest first, and nothing of others", async () => {
    const own = { identity: newIdentity() };
    const made: string[] = [];
    for (const name of ["one", "two", "three"]) {
      made.push((await harness.tables.createTable(newTable({ name }), own)).id);
    }
    const { tables } = await harness.tables.listTables({}, own);
    expect(tables.map(({ id }) => id)).toEqual(made.toReversed());
    const { tables: others } = await harness.tables.listTables({}, { identity: newIdentity() });
    expect(others).toEqual([]);
  });
});

describe("UpdateTable", () => {
  it("changes what is given and leaves the rest", async () => {
    const table = await create({
      description: "Before",
      schemaJson: `{"columns":[{"id":"a","name":"A","type":"text"}]}`,
      metadataJson: `{"b":1}`,
    });
    const changed = await update(table, { name: "After", rowEvents: true });
    expect(changed).toEqual({
      ...table,
      name: "After",
      rowEvents: true,
      updatedAt: changed.updatedAt,
    });
    expect(changed.updatedAt?.getTime()).toBeGreaterThanOrEqual(table.updatedAt?.getTime() ?? NaN);
    expect((await update(table, { description: "" })).description).toBeUndefined();
  });

  it("replaces the schema whole, columns included", async () => {
    const table = await create({ schemaJson: `{"columns":[{"name":"A","type":"text"}],"x":1}` });
    const [a] = idsOf(table.columns);
    const same = await update(table, {
      schemaJson: `{"columns":[{"name":"A","type":"number"}],"y":2}`,
    });
    expect(idsOf(same.columns)).toEqual([a]);
    expect(JSON.parse(same.schemaJson)).toEqual({
      columns: [{ id: a, name: "A", type: "number" }],
      y: 2,
    });
    const none = await update(table, { schemaJson: "{}" });
    expect(none).toMatchObject({ columns: [], schemaJson: "{}" });
  });

  it("replaces the columns in the schema, and leaves the rest of it", async () => {
    const table = await create({
      columns: { columns: [column("A"), column("B")] },
      schemaJson: `{"x":1}`,
    });
    const [a, b] = idsOf(table.columns);
    const changed = await update(table, { columns: { columns: [column("B"), column("C")] } });
    const [first, second] = idsOf(changed.columns);
    expect(first).toBe(b);
    expect([a, b]).not.toContain(second);
    expect(JSON.parse(changed.schemaJson)).toMatchObject({
      x: 1,
      columns: [{ name: "B" }, { name: "C" }],
    });
    const both = await update(table, {
      columns: { columns: [column("Renamed", { id: first ?? "" })] },
      schemaJson: `{"columns":[{"name":"Z","type":"text"}],"z":1}`,
    });
    expect(JSON.parse(both.schemaJson)).toEqual({
      columns: [{ id: first, name: "Renamed", type: "text" }],
      z: 1,
    });
    const none = await update(table, { columns: { columns: [] } });
    expect(none).toMatchObject({ columns: [], schemaJson: `{"columns":[],"z":1}` });
  });

  it("takes fewer rows than there are, and then no more are added", async () => {
    const table = await create();
    const insert = (value: number) =>
      harness.rows.insertRow(
        InsertRowRequest.create({ tableId: table.id, dataJson: `{"n":${value}}` }),
        options,
      );
    await insert(1);
    await insert(2);
    expect(await update(table, { maxRows: 1 })).toMatchObject({ maxRows: 1, rowCount: 2 });
    expect(await errorOf(insert(3))).toMatchObject({
      reason: "BAD_REQUEST",
      message: "Table has reached its maximum row limit of 1",
    });
    await update(table, { maxRows: 3 });
    await insert(3);
    expect(await errorOf(update(table, { maxRows: 100_001 }))).toMatchObject({
      violations: [{ path: ["maxRows"] }],
    });
  });

  it("does not let changes of rows count as changes of the table", async () => {
    const table = await create();
    await harness.rows.insertRow(
      InsertRowRequest.create({ tableId: table.id, dataJson: "{}" }),
      options,
    );
    const after = await harness.tables.getTable({ tableId: table.id }, options);
    expect(after).toEqual({ ...table, rowCount: 1 });
  });

  it("loses no change of those made at the same time", async () => {
    const table = await create();
    await Promise.all([
      update(table, { name: "Name" }),
      update(table, { description: "Description" }),
      update(table, { maxRows: 77 }),
      update(table, { metadataJson: `{"m":1}` }),
      update(table, { columns: { columns: [column("A", { id: "a" })] } }),
    ]);
    expect(await harness.tables.getTable({ tableId: table.id }, options)).toMatchObject({
      name: "Name",
      description: "Description",
      maxRows: 77,
      metadataJson: `{"m":1}`,
      columns: [{ id: "a" }],
    });
  });
});

describe("DeleteTable", () => {
  it("deletes the table with everything that belongs to it", async () => {
    const before = await countRecords(harness.database);
    const table = await create();
    const rowIds: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const origin = { runId: "run_1", idempotencyKey: `key-${i}` };
      const request = InsertRowRequest.create({ tableId: table.id, dataJson: "{}", origin });
      rowIds.push((await harness.rows.insertRow(request, options)).id);
    }
    await harness.rows.deleteRow(
      DeleteRowRequest.create({ tableId: table.id, rowId: rowIds[0] ?? "" }),
      options,
    );
    await harness.tables.deleteTable({ tableId: table.id }, options);
    expect(await countRecords(harness.database)).toEqual(before);
    expect(await errorOf(harness.tables.getTable({ tableId: table.id }, options))).toMatchObject({
      reason: "NOT_FOUND",
      message: "Table not found",
    });
    expect(await errorOf(harness.tables.deleteTable({ tableId: table.id }, options))).toMatchObject(
      { reason: "NOT_FOUND" },
    );
  });

  it("leaves nothing of inserts that come at the same time, which succeed before or find no table", async () => {
    const before = await countRecords(harness.database);
    const rows = Array.from({ length: 2_000 }, (_, n) => ({ n }));
    const table = await harness.tables.importTable(
      importMessages(newTable({ columns: { columns: [] } }), rows),
      options,
    );
    const inserts = Array.from({ length: 40 }, async () => {
      await harness.rows.insertRow(
        InsertRowRequest.create({ tableId: table.id, dataJson: "{}" }),
        options,
      );
    });
    const [deleted, ...inserted] = await Promise.allSettled([
      harness.tables.deleteTable({ tableId: table.id }, options),
      ...inserts,
    ]);
    expect(deleted.status).toBe("fulfilled");
    for (const outcome of inserted) {
      if (outcome.status === "rejected") {
        expect(outcome.reason).toMatchObject({ reason: "NOT_FOUND", message: "Table not found" });
      }
    }
    expect(await countRecords(harness.database)).toEqual(before);
  });
});

describe("a table of another company, an unknown one and an id of the wrong form", () => {
  it("are all not found, in every method", async () => {
    const table = await create();
    const stranger = { identity: newIdentity() };
    const cases = [
      [table.id, stranger],
      [newUuid(), options],
      ["tables/../1", options],
      ["", options],
    ] as const;
    for (const [tableId, who] of cases) {
      const calls = [
        harness.tables.getTable({ tableId }, who),
        harness.tables.updateTable(tableChange(tableId, { name: "Taken" }), who),
        harness.tables.deleteTable({ tableId }, who),
        harness.tables.moveTable({ tableId, folderId: "" }, who),
      ];
      for (const call of calls) {
        const { reason, message } = await errorOf(call);
        expect({ reason, message }).toEqual({ reason: "NOT_FOUND", message: "Table not found" });
      }
    }
    expect(await harness.tables.getTable({ tableId: table.id.toUpperCase() }, options)).toEqual(
      table,
    );
  });
});

describe("the audit log", () => {
  it("is told what became of a table, and of documents only that they changed", async () => {
    const own = { identity: newIdentity() };
    const table = await harness.tables.createTable(
      newTable({ columns: { columns: [column("A", { id: "a" })] }, metadataJson: `{"token":"t"}` }),
      own,
    );
    await harness.tables.updateTable(
      tableChange(table.id, {
        name: "Renamed",
        columns: { columns: [column("B", { id: "b" })] },
        schemaJson: `{"secret":"s"}`,
      }),
      own,
    );
    await errorOf(harness.tables.updateTable(tableChange(table.id, { name: "" }), own));
    await harness.rows.insertRow(
      InsertRowRequest.create({ tableId: table.id, dataJson: "{}" }),
      own,
    );
    await harness.tables.deleteTable({ tableId: table.id }, own);
    const events = await listAuditEvents(harness.database, own.identity.companyId);
    expect(
      events.map(({ type, data: { resourceId, resourceType } }) => [
        type,
        resourceType,
        resourceId,
      ]),
    ).toEqual([
      ["table.created", "table", table.id],
      ["table.updated", "table", table.id],
      ["table.deleted", "table", table.id],
    ]);
    expect(events[0]?.data.changes).toMatchObject({
      name: { from: null, to: "Customers" },
      maxRows: { from: null, to: 10_000 },
      columns: { added: ["a"], removed: [], modified: [] },
      metadata: { changed: true },
    });
    expect(events[1]?.data.changes).toEqual({
      name: { from: "Customers", to: "Renamed" },
      columns: { added: ["b"], removed: ["a"], modified: [] },
      schema: { changed: true },
    });
    expect(events[2]?.data.changes).toEqual({
      name: { from: "Renamed", to: null },
      rowCount: { from: 1, to: null },
    });
  });
});
