import type { NewTable, NewWorkflow, Run, Trigger, WorkflowClient } from "@workflow/client";
import { endOfRun } from "../end-of-run.ts";
import { putTable } from "../put-table.ts";
import { putWorkflow } from "../put-workflow.ts";
import { readJson } from "../read-json.ts";
import { ExampleError, runExample } from "../run-example.ts";

const TABLE: NewTable = {
  name: "Sales (example)",
  columns: [
    { id: "day", name: "Day", type: "date" },
    { id: "region", name: "Region", type: "text" },
    { id: "amount", name: "Amount in EUR", type: "number" },
  ],
};
const ZONE = "Europe/Berlin";
/** More than a page of the workflow's query has. */
const SALES = 250;
const DAY_MS = 86_400_000;

await runExample(
  "workflows:read,workflows:write,workflows:execute,runs:read",
  async ({ client, setting }) => {
    const to = setting("REPORT_TO", "It is the e-mail address that gets the report.");
    const { id: tableId } = await putTable(client, TABLE);
    await sellYesterday(client, tableId);
    const definition = await readJson<Omit<NewWorkflow, "trigger">>(
      new URL("workflow.json", import.meta.url),
    );
    const trigger: Trigger = {
      type: "schedule",
      cron: "30 6 * * *",
      timezone: ZONE,
      overlap: "skip",
      catchUp: "last",
      // What each run gets.
      input: { tableId, to },
    };
    const workflow = await putWorkflow(client, { ...definition, trigger });
    await showTimes(client, workflow.id);
    const { runId } = await client.schedules.trigger(workflow.id);
    report(await endOfRun(client, runId), to);
    const { runCount } = await client.schedules.get(workflow.id);
    console.log(`The schedule has started ${runCount} runs. It goes on; pause the workflow with`);
    console.log(`POST /workflows/${workflow.id}/pause`);
  },
);

/** Fills the table with yesterday's sales, unless they are there. */
async function sellYesterday(client: WorkflowClient, tableId: string): Promise<void> {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: ZONE });
  const day = format.format(Date.now() - DAY_MS);
  const filter = { day: { values: [day] } };
  const { meta } = await client.rows.query(tableId, { filter, limit: 1 });
  if (meta.total > 0) return;
  const regions = ["East", "North", "South"];
  const insert = Array.from({ length: SALES }, (_, index) => ({
    data: { day, region: regions[index % regions.length], amount: 10 + (index % 7) * 0.5 },
  }));
  await client.rows.batch(tableId, { insert });
}

/** Prints when the schedule fires next. */
async function showTimes(client: WorkflowClient, workflowId: string): Promise<void> {
  const { nextRunAt = [] } = await client.workflows.plan(workflowId);
  console.log("Fires next, in UTC and in Berlin:");
  for (const time of nextRunAt) {
    const local = new Date(time).toLocaleString("sv-SE", { timeZone: ZONE });
    console.log(`  ${time}   ${local}`);
  }
}

function report(run: Run, to: string): void {
  console.log(`Run ${run.id}, started by its ${run.triggerType}: ${run.status}`);
  if (run.status === "completed") {
    console.log(`Sent to ${to}:\n${JSON.stringify(run.output, null, 2)}`);
    return;
  }
  const failed = run.stepResults.find(({ status }) => status === "error");
  throw new ExampleError(
    `The step ${failed?.path ?? "?"} failed with ${failed?.error?.code}: ${failed?.error?.message}\n` +
      "E-mail needs a server: SMTP_URL=smtp://… EMAIL_FROM=… npm start",
  );
}
