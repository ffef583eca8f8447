import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { ColumnType } from "@workflow/proto/tables/v1/tables";
import type { Table } from "@workflow/proto/tables/v1/tables";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { column, newTable, tableChange } from "./support/table-requests.ts";

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

  it("refuses documents with numbers that would be stored as null, each with its place", async () => {
    const schemaJson = `{"view":{"x":[1,-1e400]},"columns":[{"name":"A","type":"text","w":1e309}]}`;
    const wrong = {
      schemaJson,
      metadataJson: `{"x":1e400,"y":1e308,"__proto__":${"9".repeat(400)}}`,
    };
    const error = await errorOf(create(wrong));
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.violations.map(({ path }) => path.join("."))).toEqual([
      "schema.view.x.1",
      "schema.columns.0.w",
      "metadata.x",
      "metadata.__proto__",
    ]);
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
