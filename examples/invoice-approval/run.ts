import { readFile } from "node:fs/promises";
import { isApiError } from "@workflow/client";
import type { NewTable, NewWorkflow, WorkflowClient } from "@workflow/client";
import { endOfRun } from "../end-of-run.ts";
import { putTable } from "../put-table.ts";
import { putWorkflow } from "../put-workflow.ts";
import { readJson } from "../read-json.ts";
import { ExampleError, runExample } from "../run-example.ts";
import { startReceiver } from "../webhooks/receiver.ts";
import type { Receiver } from "../webhooks/receiver.ts";

const TABLE: NewTable = {
  name: "Invoices (example)",
  columns: [
    { id: "supplier", name: "Supplier", type: "text" },
    { id: "total", name: "Total", type: "number" },
    { id: "currency", name: "Currency", type: "text" },
    { id: "due", name: "Due", type: "date" },
    { id: "costCentre", name: "Cost centre", type: "text" },
    { id: "comment", name: "Comment", type: "text" },
    { id: "run", name: "Run", type: "text" },
  ],
};

await runExample(
  "workflows:read,workflows:write,workflows:execute,runs:read",
  async ({ client }) => {
    const decision = readDecision(process.env["DECISION"] || "approved");
    const definition = await readJson<NewWorkflow>(new URL("workflow.json", import.meta.url));
    const { id: tableId } = await putTable(client, TABLE);
    const workflow = await putWorkflow(client, definition);
    const receiver = await startReceiver();
    try {
      const endpoint = await makeEndpoint(client, receiver, workflow.id);
      // Nobody is told the secret again.
      receiver.trust(endpoint.secret);
      try {
        for (const invoice of ["paper", "machines"]) {
          const text = await readFile(new URL(`invoices/${invoice}.txt`, import.meta.url), "utf8");
          console.log(`Invoice ${invoice}`);
          const { runId } = await client.workflows.run(workflow.id, { input: { text, tableId } });
          await decideWhenAsked(client, runId, decision);
          await report(client, receiver, runId);
        }
      } finally {
        await client.webhookEndpoints.delete(endpoint.id);
      }
      const { groups } = await client.rows.aggregate(tableId, { measures: [{ fn: "count" }] });
      console.log(`The table has ${String(groups[0]?.values[0])} invoices.`);
    } finally {
      receiver.close();
    }
  },
);

type Decision = "approved" | "rejected";

function readDecision(word: string): Decision {
  if (word === "approved" || word === "rejected") return word;
  throw new ExampleError(`DECISION is "${word}". It has to be approved or rejected.`);
}

/** Stands for the person: decides when the run asks, and does nothing when it ends without asking. */
async function decideWhenAsked(
  client: WorkflowClient,
  runId: string,
  decision: Decision,
): Promise<void> {
  for await (const { type, data } of client.runs.events(runId)) {
    if (type !== "run" || data.status !== "waiting_approval") continue;
    const waiting = (await client.runs.get(runId)).status === "waiting_approval";
    const approvals = waiting ? (await client.approvals.listOfRun(runId)).items : [];
    for (const approval of approvals.filter(({ status }) => status === "waiting")) {
      console.log(`  asks: ${approval.message}`);
      await client.approvals.decide(runId, approval.id, {
        decision,
        comment: "Decided by the example",
        data: { costCentre: "4711" },
      });
      console.log(`  ${decision}`);
    }
  }
}

/** Prints how the run ended, and that the receiver heard of it. */
async function report(client: WorkflowClient, receiver: Receiver, runId: string): Promise<void> {
  const run = await endOfRun(client, runId);
  console.log(`  ${run.id} ${run.status}`);
  const failed = run.stepResults.find(({ status }) => status === "error");
  if (failed?.error?.code === "NOT_CONFIGURED") {
    throw new ExampleError(
      `${failed.error.message}\nStart the service with OPENAI_API_KEY=… npm start, and run the example again.`,
    );
  }
  if (run.status === "completed") console.log(`  booked: ${JSON.stringify(run.output)}`);
  else console.log(`  not booked: ${run.error?.message}`);
  const { type } = await receiver.deliveryOf(runId);
  console.log(`  the receiver was told ${type}, and the signature is right`);
}

async function makeEndpoint(client: WorkflowClient, { url }: Receiver, workflowId: string) {
  try {
    return await client.webhookEndpoints.create({
      name: "Invoice approval (example)",
      url,
      events: ["workflow.completed", "workflow.failed"],
      workflowIds: [workflowId],
    });
  } catch (error) {
    if (!isApiError(error, "BAD_REQUEST")) throw error;
    throw new ExampleError(
      `${error.message}\nThe example's receiver is on this machine; by default endpoints must be elsewhere.\n` +
        "Start the service with OUTBOUND_ALLOW_PRIVATE=true npm start, and run the example again.",
      { cause: error },
    );
  }
}
