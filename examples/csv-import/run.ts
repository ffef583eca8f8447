import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { NewTable, NewWorkflow, Run, Table, Trigger, WorkflowClient } from "@workflow/client";
import { putTable } from "../put-table.ts";
import { putWorkflow } from "../put-workflow.ts";
import { readJson } from "../read-json.ts";
import { ExampleError, runExample } from "../run-example.ts";

/** Its rows start runs; the file's columns and what came of each row are in it. */
const TABLE: NewTable = {
  name: "Imported orders (example)",
  maxRows: 100_000,
  rowEvents: true,
  columns: [
    { id: "import", name: "Import", type: "text" },
    { id: "order", name: "Order", type: "text" },
    { id: "customer", name: "Customer", type: "text" },
    { id: "quantity", name: "Quantity", type: "number" },
    { id: "price", name: "Price", type: "number" },
    { id: "state", name: "State", type: "select", options: ["new", "done"] },
    { id: "total", name: "Total", type: "number" },
    { id: "run", name: "Run", type: "text" },
  ],
};
/** What a batch may have at most. */
const BATCH_ROWS = 1_000;
const POLL_MS = 500;
const WITHIN_MS = 600_000;

/** Runs already read, by id: a failed run does not change any more. */
const known = new Map<string, Run>();

await runExample(
  "workflows:read,workflows:write,workflows:execute,runs:read",
  async ({ client }) => {
    const csv = await readCsv(process.argv[2]);
    const table = await putTable(client, TABLE);
    const definition = await readJson<Omit<NewWorkflow, "trigger">>(
      new URL("workflow.json", import.meta.url),
    );
    const trigger: Trigger = { type: "table", tableId: table.id, events: ["row_created"] };
    const workflow = await putWorkflow(client, { ...definition, trigger });
    const importId = randomUUID();
    const { rowCount, createdAt } = await importRows(client, { table, csv, importId });
    const failed = await waitForRows(client, { table, importId, rowCount }, () =>
      failedRuns(client, { workflowId: workflow.id, createdAfter: createdAt, importId }),
    );
    for (const { id, input, error } of failed) {
      const { order } = Object(Object(input).data);
      console.log(`failed: order ${order}, ${id}: ${error?.code} ${describe(error?.details)}`);
    }
  },
);

async function readCsv(path: string | undefined): Promise<string> {
  const file = path ?? new URL("orders.csv", import.meta.url);
  try {
    // Letters of another encoding would be lost in the table, without a word.
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    throw new ExampleError(`${String(file)} cannot be read as UTF-8 text.`, { cause: error });
  }
}

/**
 * Lets the service read the file into a table of its own, which checks all of it and starts nothing, then adds its
 * rows to the table that starts runs. A wrong line stops it before any run is there. Returns how many rows
 * there are, and the moment by the service's clock before which none of them was added.
 */
async function importRows(
  client: WorkflowClient,
  { table, csv, importId }: { table: Table; csv: string; importId: string },
): Promise<Pick<Table, "rowCount" | "createdAt">> {
  const columns = JSON.stringify([{ name: "order", type: "text" }]);
  const staged = await client.tables.import(csv, {
    query: { format: "csv", name: `Import ${importId}`, maxRows: 100_000, columns },
  });
  console.log(`The file has ${staged.rowCount} rows.`);
  try {
    let batch: { data: Record<string, unknown> }[] = [];
    const send = async (): Promise<void> => {
      if (batch.length > 0) await client.rows.batch(table.id, { insert: batch });
      batch = [];
    };
    for await (const { data } of client.rows.query(staged.id, { limit: 100 })) {
      batch.push({ data: { ...data, import: importId, state: "new" } });
      if (batch.length === BATCH_ROWS) await send();
    }
    await send();
    return staged;
  } finally {
    await client.tables.delete(staged.id);
  }
}

/** Prints how far the import is until each row is done or its run has failed; returns those runs. */
async function waitForRows(
  client: WorkflowClient,
  { table, importId, rowCount }: { table: Table; importId: string; rowCount: number },
  findFailed: () => Promise<Run[]>,
): Promise<Run[]> {
  const filter = { import: { values: [importId] }, state: { values: ["done"] } };
  let shown = "";
  for (const deadline = Date.now() + WITHIN_MS; Date.now() < deadline; await delay(POLL_MS)) {
    // One figure, however many rows there are.
    const { groups } = await client.rows.aggregate(table.id, {
      filter,
      measures: [{ fn: "count" }],
    });
    const done = Number(groups[0]?.values[0]);
    const failed = await findFailed();
    const line = `${done} done, ${failed.length} failed, of ${rowCount}`;
    if (line !== shown) console.log(line);
    shown = line;
    if (done + failed.length >= rowCount) return failed;
  }
  throw new ExampleError(`The import has not ended within ${WITHIN_MS / 1_000} s.`);
}

/** The runs of this import that have failed. */
async function failedRuns(
  { runs }: WorkflowClient,
  query: { workflowId: string; createdAfter: string; importId: string },
): Promise<Run[]> {
  const { importId, ...filter } = query;
  const failed: Run[] = [];
  for await (const { id } of runs.list({ ...filter, status: "failed", limit: 100 })) {
    const run = known.get(id) ?? (await runs.get(id));
    known.set(id, run);
    if (Object(Object(run.input).data).import === importId) failed.push(run);
  }
  return failed;
}

/** What is wrong with a row, where the error says it: `violations` of the input, each with its path. */
function describe({ violations }: Record<string, unknown> = {}): string {
  if (!Array.isArray(violations)) return "";
  return violations.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ");
}
