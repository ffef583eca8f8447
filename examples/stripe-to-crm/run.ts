import { createHmac, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isApiError } from "@workflow/client";
import type { NewWorkflow, Workflow, WorkflowClient } from "@workflow/client";
import { endOfRun } from "../end-of-run.ts";
import { putWorkflow } from "../put-workflow.ts";
import { readJson } from "../read-json.ts";
import { ExampleError, runExample } from "../run-example.ts";
import { startCrmServer } from "./crm-server.ts";

const PLACEHOLDER = "https://crm.example.com";

await runExample(
  "workflows:read,workflows:write,runs:read,connections:read,connections:write,secrets:read,secrets:write",
  async ({ client, baseUrl, setting }) => {
    const signingSecret = setting(
      "STRIPE_WEBHOOK_SECRET",
      "Give the service and the example the same one; Stripe shows it beside the endpoint.",
    );
    const account = await connectedAccount(client);
    const crmKey = randomUUID();
    const crm = await startCrmServer(crmKey);
    try {
      const workflow = await putCrmWorkflow(client, crm.url, crmKey);
      const url = new URL("/webhooks/stripe", baseUrl).href;
      const event = await readJson<object>(new URL("event.json", import.meta.url));
      for (const [id, change] of [
        [newId(), {}],
        [newId(), {}],
        [newId(), { type: "charge.refunded" }],
      ] as const) {
        const body = JSON.stringify({ ...event, ...change, id, account });
        const eventId = await send(url, body, signingSecret);
        await report(client, eventId);
        if ((await send(url, body, signingSecret)) !== eventId) {
          throw new ExampleError("The event was taken twice.");
        }
      }
      console.log("Each was sent twice, as Stripe may; the second time started nothing.");
      // The CRM ends with the example, and events of Stripe may go on coming.
      await client.workflows.pause(workflow.id);
    } finally {
      crm.close();
    }
  },
);

function newId(): string {
  return `evt_${randomUUID().replaceAll("-", "")}`;
}

/** The company's account at Stripe. Without one the address at which a person connects it is told. */
async function connectedAccount(client: WorkflowClient): Promise<string> {
  const { items } = await client.connections.list({ provider: "stripe", status: "active" });
  const account = items[0]?.externalAccountId;
  if (account !== undefined && account !== null) return account;
  try {
    const { authUrl } = await client.connections.getAuthUrl("stripe");
    throw new ExampleError(
      `No Stripe account is connected. Connect one in a browser, then run the example again:\n${authUrl}`,
    );
  } catch (error) {
    if (!isApiError(error, "BAD_REQUEST")) throw error;
    throw new ExampleError(
      `No Stripe account is connected, and none can be: ${error.message}\n` +
        "How accounts are connected is in docs/authorization.md.",
      { cause: error },
    );
  }
}

/** The workflow with the address of the CRM, and the CRM's key as a secret that goes nowhere else. */
async function putCrmWorkflow(
  client: WorkflowClient,
  crmUrl: string,
  crmKey: string,
): Promise<Workflow> {
  const text = await readFile(new URL("workflow.json", import.meta.url), "utf8");
  const definition: NewWorkflow = JSON.parse(text.replaceAll(PLACEHOLDER, crmUrl));
  const workflow = await putWorkflow(client, definition);
  const secret = { value: crmKey, allowedHosts: [new URL(crmUrl).hostname] };
  const { items } = await client.secrets.list(workflow.id);
  if (items.some(({ key }) => key === "CRM_KEY")) {
    await client.secrets.replace(workflow.id, "CRM_KEY", secret);
  } else {
    await client.secrets.create(workflow.id, { key: "CRM_KEY", ...secret });
  }
  return workflow;
}

/** Posts an event as Stripe does; returns its id at the service. */
async function send(url: string, body: string, secret: string): Promise<string> {
  const time = Math.floor(Date.now() / 1_000);
  const digest = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "stripe-signature": `t=${time},v1=${digest}`,
    },
    body,
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text).eventId;
  const hint =
    response.status === 401
      ? " Has the service the same STRIPE_WEBHOOK_SECRET as the example?"
      : "";
  throw new ExampleError(`POST ${url}: ${response.status} ${text}${hint}`);
}

/** Prints what an event has started and how that ended. */
async function report(client: WorkflowClient, eventId: string): Promise<void> {
  const event = await client.webhookEvents.get(eventId);
  console.log(`Event ${event.eventType}, signature ${event.signatureVerified}`);
  const runId = event.workflowsTriggered[0]?.runId;
  if (runId === undefined) throw new ExampleError(`Event ${eventId} has started no run.`);
  const run = await endOfRun(client, runId);
  console.log(`  ${run.id} ${run.status}: ${JSON.stringify(run.output)}`);
  if (run.status === "completed") return;
  throw new ExampleError(
    `${run.error?.message}\nThe example's CRM is on this machine; by default workflows may not call it.\n` +
      "Start the service with OUTBOUND_ALLOW_PRIVATE=true npm start, and run the example again.",
  );
}
