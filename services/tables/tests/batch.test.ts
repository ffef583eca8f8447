import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { QueryRowsRequest } from "@workflow/proto/tables/v1/rows";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { createRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

async function listAll({ tableId, identity }: RowTable) {
  const request = QueryRowsRequest.create({ tableId, limit: 100 });
  return (await harness.rows.queryRows(request, { identity })).rows;
}

describe("a batch", () => {
  it("inserts, updates and deletes together and tells of the rows as they are", async () => {
    const table = await createRowTable(harness, newIdentity());
    const { tableId, identity } = table;
    const kept = await table.insert({ n: 1 });
    const gone = await table.insert({ n: 2 });
    const batch = {
      tableId,
      insertDataJson: ['{"n":3}', '{"n":4}'],
      updates: [{ rowId: kept, dataJson: '{"n":10}' }],
      deleteRowIds: [gone],
    };
    const { inserted, updated, deletedRowIds } = await harness.rows.batchRows(batch, { identity });
    expect(inserted.map(({ dataJson, position }) => [dataJson, position])).toEqual([
      ['{"n":3}', 2],
      ['{"n":4}', 3],
    ]);
    expect(updated).toEqual([await harness.rows.getRow({ tableId, rowId: kept }, { identity })]);
    expect(deletedRowIds).toEqual([gone]);
    expect((await listAll(table)).map(({ dataJson }) => dataJson)).toEqual([
      '{"n":10}',
      '{"n":3}',
      '{"n":4}',
    ]);
  });

  it("does nothing at all when one of its rows is unknown, and names those", async () => {
    const table = await createRowTable(harness, newIdentity());
    const other = await createRowTable(harness, table.identity);
    const { tableId, identity } = table;
    const known = await table.insert({ n: 1 });
    const foreign = await other.insert({});
    const missing = newUuid();
    const before = await listAll(table);
    for (const [deleteRowIds, rowIds] of [
      [
        [known, missing, foreign],
        [missing, foreign],
      ],
      [[known, "nonsense"], ["nonsense"]],
    ] as const) {
      const batch = {
        tableId,
        insertDataJson: ["{}"],
        updates: [],
        deleteRowIds: [...deleteRowIds],
      };
      const error = await errorOf(harness.rows.batchRows(batch, { identity }));
      expect(error).toMatchObject({ reason: "NOT_FOUND", details: { rowIds } });
    }
    expect(await listAll(table)).toEqual(before);
  });

  it("names all of its rows that are missing, changed or deleted, malformed ids and others", async () => {
    const table = await createRowTable(harness, newIdentity());
    const { tableId, identity } = table;
    const known = await table.insert({ n: 1 });
    const also = await table.insert({ n: 2 });
    const [missing, gone] = [newUuid(), newUuid()];
    const batch = (updateIds: string[], deleteRowIds: string[]) => ({
      tableId,
      insertDataJson: ["{}"],
      updates: updateIds.map((rowId) => ({ rowId, dataJson: "{}" })),
      deleteRowIds,
    });
    for (const [updateIds, deleteIds, rowIds] of [
      [
        [missing, known],
        [gone, also],
        [missing, gone],
      ],
      [
        [missing, known],
        ["nonsense", gone, also],
        [missing, "nonsense", gone],
      ],
      [["", known], [also], [""]],
      [[known], [also, gone], [gone]],
    ] as const) {
      const request = batch([...updateIds], [...deleteIds]);
      const error = await errorOf(harness.rows.batchRows(request, { identity }));
      expect(error).toMatchObject({ reason: "NOT_FOUND", details: { rowIds } });
    }
    const many = Array.from({ length: 50 }, newUuid);
    const error = await errorOf(
      harness.rows.batchRows(batch(many.slice(0, 25), many.slice(25)), { identity }),
    );
    expect(error.details).toEqual({ rowIds: many.slice(0, 30) });
    const { identity: stranger } = await createRowTable(harness, newIdentity());
    const foreign = harness.rows.batchRows(batch(["nonsense"], []), { identity: stranger });
    expect(await errorOf(foreign)).toMatchObject({
      reason: "NOT_FOUND",
      message: "Table not found",
      details: undefined,
    });
    expect(await listAll(table)).toHaveLength(2);
  });

  it("names everything that is wrong with it", async () => {
    const table = await createRowTable(harness, newIdentity());
    const { tableId, identity } = table;
    const rowId = await table.insert({});
    const batch = {
      tableId,
      insertDataJson: ["{}", "[]"],
      updates: [{ rowId, dataJson: "1" }],
      deleteRowIds: [rowId.toUpperCase()],
    };
    const { reason, violations } = await errorOf(harness.rows.batchRows(batch, { identity }));
    expect(reason).toBe("BAD_REQUEST");
    expect(violations.map(({ path }) => path)).toEqual([
      ["insert", "1", "data"],
      ["update", "0", "data"],
      ["delete", "0"],
    ]);
  });

  it("has 1 to 1000 changes, and inserts before it deletes", async () => {
    const table = await createRowTable(harness, newIdentity(), { maxRows: 1_000 });
    const { tableId, identity } = table;
    const inserts = (count: number) => Array.from({ length: count }, () => "{}");
    const batch = (count: number, deleteRowIds: string[] = []) =>
      harness.rows.batchRows(
        { tableId, insertDataJson: inserts(count), updates: [], deleteRowIds },
        { identity },
      );
    expect((await errorOf(batch(0))).reason).toBe("BAD_REQUEST");
    expect((await errorOf(batch(1_001))).reason).toBe("BAD_REQUEST");
    const { inserted } = await batch(1_000);
    const first = inserted[0]?.id ?? "";
    expect((await errorOf(batch(1, [first]))).message).toBe(
      "Table has reached its maximum row limit of 1000",
    );
  });

  it("is refused above 8 MiB of data", async () => {
    const { tableId, identity } = await createRowTable(harness, newIdentity());
    const data = JSON.stringify({ a: "x".repeat(1024 * 1024 - 20) });
    const batch = (count: number) => ({
      tableId,
      insertDataJson: Array.from({ length: count }, () => data),
      updates: [],
      deleteRowIds: [],
    });
    const { inserted } = await harness.rows.batchRows(batch(8), { identity });
    expect(inserted).toHaveLength(8);
    const error = await errorOf(harness.rows.batchRows(batch(9), { identity }));
    expect(error.reason).toBe("PAYLOAD_TOO_LARGE");
  });
});
