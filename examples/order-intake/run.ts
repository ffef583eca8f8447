import type { NewWorkflow, Run } from "@workflow/client";
import { endOfRun } from "../end-of-run.ts";
import { putWorkflow } from "../put-workflow.ts";
import { readJson } from "../read-json.ts";
import { ExampleError, runExample } from "../run-example.ts";
import { startPriceListServer } from "./price-list-server.ts";

/** How the service refuses http and addresses of its own machine. */
const NOT_ALLOWED = ["ADDRESS_NOT_ALLOWED", "INVALID_URL"];

await runExample(
  "workflows:read,workflows:write,workflows:execute,runs:read",
  async ({ client }) => {
    const priceList = await startPriceListServer();
    try {
      const definition = await readJson<NewWorkflow>(new URL("workflow.json", import.meta.url));
      const workflow = await putWorkflow(client, definition);
      console.log(`Workflow ${workflow.name} (${workflow.id})`);
      const order = await readJson<object>(new URL("data/order.json", import.meta.url));
      const input = { order, priceListUrl: priceList.url };
      const { runId } = await client.workflows.run(workflow.id, { input });
      report(await endOfRun(client, runId));
    } finally {
      priceList.close();
    }
  },
);

/** Prints what happened. Throws ExampleError when the run did not complete. */
function report(run: Run): void {
  console.log(`Run ${run.id}: ${run.status} after ${run.durationMs} ms\n`);
  printTable([
    ["step", "type", "status", "ms"],
    ...run.stepResults.map(({ path, type, status, durationMs }) => [
      path,
      type,
      status,
      String(durationMs ?? ""),
    ]),
  ]);
  if (run.status !== "completed") throw new ExampleError(reasonOf(run));
  console.log(`\nOutput:\n${JSON.stringify(run.output, null, 2)}`);
}

function reasonOf({ error, stepResults }: Run): string {
  const reason = `\n${error?.code}: ${error?.message}`;
  const codes = [error, ...stepResults.map((step) => step.error)].map((each) => each?.code ?? "");
  if (!codes.some((code) => NOT_ALLOWED.includes(code))) return reason;
  return (
    `${reason}\nThe example's price list is on this machine; by default workflows may not call it.\n` +
    "Start the service with OUTBOUND_ALLOW_PRIVATE=true npm start, and run the example again."
  );
}

function printTable(rows: readonly (readonly string[])[]): void {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    console.log(cells.join("   ").trimEnd());
  }
}
