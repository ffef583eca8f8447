import { z } from "zod";
import type { Storyteller } from "./storyteller.ts";

const batch = z.looseObject({ inserted: z.array(z.looseObject({ id: z.string() })) });

const COLUMNS = [
  { id: "customer", name: "Customer", type: "text", required: true },
  { id: "amount", name: "Amount", type: "number" },
  { id: "state", name: "State", type: "select", options: ["open", "shipped"] },
  { id: "ordered", name: "Ordered on", type: "date" },
];
const ADA = { customer: "Ada Lovelace", amount: 129.5, state: "open", ordered: "2026-01-23" };
const GRACE = { customer: "Grace Hopper", amount: 80, state: "open", ordered: "2026-01-24" };
const OPEN = { state: { values: ["open"] } };

/** The company keeps its orders in a table; returns the table's id. */
export async function tellOfTables(story: Storyteller): Promise<string> {
  const folderId = await story.make("createFolder", { body: { name: "Sales" } });
  const id = await story.make("createTable", {
    body: { name: "Orders", description: "What customers have ordered.", columns: COLUMNS },
  });
  const params = { id };
  await story.tell("moveTable", { params: { tableId: id }, body: { folderId } });
  await story.tell("listFolders");
  const rowId = await story.make("insertRow", { params, body: { data: ADA } });
  const row = { ...params, rowId };
  const added = await story.tell("batchRows", {
    params,
    body: {
      insert: [{ data: GRACE }, { data: { ...GRACE, customer: "Alan Turing", amount: 15 } }],
      update: [{ id: rowId, data: { ...ADA, amount: 140 } }],
    },
  });
  const last = batch.parse(added).inserted.at(-1)?.id ?? "";
  await story.tell("updateRow", {
    params: row,
    query: { merge: "true" },
    body: { data: { state: "shipped" } },
  });
  await story.tell("getRow", { params: row });
  const sorted = { sort: "amount", order: "desc" };
  await story.tell("queryRows", { params, body: { filter: OPEN, ...sorted, limit: 50 } });
  await story.tell("listRows", { params, query: { filter: JSON.stringify(OPEN), ...sorted } });
  await story.tell("aggregateRows", {
    params,
    body: { groupBy: "state", measures: [{ fn: "count" }, { fn: "sum", column: "amount" }] },
  });
  const column = { ...params, columnId: "customer" };
  await story.tell("queryValues", { params: column, body: { filter: OPEN, search: "a" } });
  await story.tell("listValues", { params: column, query: { search: "a" } });
  await story.tell("deleteRow", { params: { ...params, rowId: last } });
  await story.tell("exportRows", { name: "csv", params, query: { format: "csv" } });
  await story.tell("exportRows", { name: "jsonl", params, query: { format: "jsonl" } });
  await story.tell("updateTable", { params, body: { description: "Orders of this year." } });
  await story.tell("getTable", { params });
  await story.tell("importTable", {
    name: "csv",
    query: { format: "csv", name: "Customers" },
    csv: "Name,City\r\nAda Lovelace,London\r\nGrace Hopper,New York\r\n",
  });
  const imported = await story.make("importTable", {
    body: {
      name: "Orders of last year",
      columns: COLUMNS,
      rows: [{ ...ADA, state: "shipped", ordered: "2025-11-02" }],
    },
  });
  await story.tell("listTables");
  await story.tell("deleteTable", { params: { id: imported } });
  return id;
}
