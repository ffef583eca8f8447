import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { EventEnvelope } from "@workflow/events";
import { waitFor } from "@workflow/testkit";
import { DeleteRowRequest, UpdateRowRequest } from "@workflow/proto/tables/v1/rows";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { changeRowTable, createRowTable, TEXT } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";

let harness: Harness;
const events: EventEnvelope[] = [];

beforeAll(async () => {
  harness = await startHarness();
  const handler = async (event: EventEnvelope): Promise<void> => void events.push(event);
  await harness.bus.subscribe({ consumer: "test", stream: "tables", handler });
});
afterAll(() => harness.close());

/** What was told of a table, once there are so many. */
async function eventsOf({ tableId }: RowTable, count: number) {
  const told = () => events.filter(({ data }) => data["tableId"] === tableId);
  await waitFor(() => told().length >= count, { what: `${count} events` });
  return told().map(({ type, data }) => ({ type, data }));
}

describe("a table that tells of changed rows", () => {
  it("tells of each added, changed and deleted row, in the order of the changes", async () => {
    const table = await createRowTable(harness, newIdentity(), { rowEvents: true });
    const { tableId, identity } = table;
    const origin = { runId: "run_1", idempotencyKey: "" };
    const rowId = await table.insert({ name: "a", __proto__: 1 });
    const change = { tableId, rowId, dataJson: '{"name":"b"}', merge: true };
    await harness.rows.updateRow(UpdateRowRequest.create({ ...change, origin }), { identity });
    await harness.rows.updateRow(UpdateRowRequest.create({ ...change, merge: false }), {
      identity,
    });
    await harness.rows.deleteRow(DeleteRowRequest.create({ tableId, rowId }), { identity });
    const common = { tableId, tableName: "Deals", rowId, position: 0 };
    expect(await eventsOf(table, 4)).toEqual([
      { type: "table.row_created", data: { ...common, data: { name: "a" } } },
      {
        type: "table.row_updated",
        data: { ...common, data: { name: "b" }, previousData: { name: "a" }, runId: "run_1" },
      },
      {
        type: "table.row_updated",
        data: { ...common, data: { name: "b" }, previousData: { name: "b" } },
      },
      { type: "table.row_deleted", data: { ...common, data: { name: "b" } } },
    ]);
  });

  it("tells of a batch row by row, with the request and the company", async () => {
    const table = await createRowTable(harness, newIdentity(), { rowEvents: true });
    const { tableId, identity } = table;
    const changed = await table.insert({ n: 1 });
    const gone = await table.insert({ n: 2 });
    const batch = {
      tableId,
      insertDataJson: ['{"n":3}'],
      updates: [{ rowId: changed, dataJson: '{"n":4}' }],
      deleteRowIds: [gone],
    };
    await harness.rows.batchRows(batch, { identity, requestId: "request-1" });
    const told = (await eventsOf(table, 5)).slice(2);
    expect(told.map(({ type, data }) => [type, data["position"], data["data"]])).toEqual([
      ["table.row_created", 2, { n: 3 }],
      ["table.row_updated", 0, { n: 4 }],
      ["table.row_deleted", 1, { n: 2 }],
    ]);
    const last = events.filter(({ requestId }) => requestId === "request-1");
    expect(last.map(({ companyId }) => companyId)).toEqual([
      identity.companyId,
      identity.companyId,
      identity.companyId,
    ]);
  });

  it("leaves large data out and says so", async () => {
    const table = await createRowTable(harness, newIdentity(), { rowEvents: true });
    const { tableId, identity } = table;
    const rowId = await table.insert({ name: "x".repeat(300 * 1024) });
    const change = { tableId, rowId, dataJson: '{"name":"small"}', merge: false };
    await harness.rows.updateRow(UpdateRowRequest.create(change), { identity });
    const told = await eventsOf(table, 2);
    expect(told.map(({ data }) => [data["data"], data["previousData"], data["truncated"]])).toEqual(
      [
        [null, undefined, true],
        [{ name: "small" }, null, true],
      ],
    );
  });

  it("tells nothing of what was refused, and exactly of what was added at the limit", async () => {
    const table = await createRowTable(harness, newIdentity(), { rowEvents: true, maxRows: 3 });
    const inserts = Array.from({ length: 10 }, (_, n) => table.insert({ n }));
    const outcomes = await Promise.allSettled(inserts);
    const added = outcomes.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
    expect(added).toHaveLength(3);
    expect((await errorOf(table.insert({}))).reason).toBe("BAD_REQUEST");
    const told = await eventsOf(table, 3);
    expect(new Set(told.map(({ data }) => data["rowId"]))).toEqual(new Set(added));
  });

  it("begins and ends to tell when the table is changed, even by another process", async () => {
    const table = await createRowTable(harness, newIdentity());
    const columns = [TEXT];
    await table.insert({ n: 1 });
    await changeRowTable(harness, table.tableId, { columns, rowEvents: true });
    await table.insert({ n: 2 });
    await changeRowTable(harness, table.tableId, { columns, rowEvents: false });
    await table.insert({ n: 3 });
    await changeRowTable(harness, table.tableId, { columns, rowEvents: true });
    const rowId = await table.insert({ n: 4 });
    await changeRowTable(harness, table.tableId, { columns, rowEvents: false });
    const { tableId, identity } = table;
    await harness.rows.deleteRow(DeleteRowRequest.create({ tableId, rowId }), { identity });
    await changeRowTable(harness, table.tableId, { columns, rowEvents: true });
    await table.insert({ n: 5 });
    const told = await eventsOf(table, 3);
    expect(told.map(({ data }) => data["data"])).toEqual([{ n: 2 }, { n: 4 }, { n: 5 }]);
  });
});
