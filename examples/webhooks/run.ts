import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isApiError } from "@workflow/client";
import type { WebhookEndpointWithSecret, NewWorkflow, WorkflowClient } from "@workflow/client";
import { putWorkflow } from "../put-workflow.ts";
import { readJson } from "../read-json.ts";
import { ExampleError, runExample } from "../run-example.ts";
import { startReceiver } from "./receiver.ts";
import type { Receiver } from "./receiver.ts";

await runExample("workflows:read,workflows:write,runs:read", async (context) => {
  const { client, baseUrl, setting } = context;
  const companyId = setting("COMPANY_ID", "npm start shows it on its first start, beside the key.");
  const receiver = await startReceiver();
  try {
    const definition = await readJson<NewWorkflow & { trigger: { path: string } }>(
      new URL("workflow.json", import.meta.url),
    );
    const workflow = await putWorkflow(client, definition);
    await withEndpoint(client, receiver, workflow.id, async () => {
      const path = `/webhooks/custom/${companyId}/${definition.trigger.path}`;
      const runId = await sendOrder(client, new URL(path, baseUrl).href);
      await showDelivery(receiver, runId);
    });
  } finally {
    receiver.close();
  }
});

/** Makes an endpoint that hears of the ends of a workflow's runs, for as long as something takes. */
async function withEndpoint(
  client: WorkflowClient,
  receiver: Receiver,
  workflowId: string,
  use: () => Promise<void>,
): Promise<void> {
  const endpoint = await makeEndpoint(client, receiver, workflowId);
  try {
    // Nobody is told the secret again.
    receiver.trust(endpoint.secret);
    console.log(`Endpoint ${endpoint.id} delivers to ${receiver.url}`);
    await use();
  } finally {
    await client.webhookEndpoints.delete(endpoint.id);
  }
}

async function makeEndpoint(
  { webhookEndpoints }: WorkflowClient,
  { url }: Receiver,
  workflowId: string,
): Promise<WebhookEndpointWithSecret> {
  try {
    return await webhookEndpoints.create({
      name: "Webhooks (example)",
      url,
      events: ["workflow.completed", "workflow.failed"],
      workflowIds: [workflowId],
    });
  } catch (error) {
    if (!isApiError(error) || error.status !== 400) throw error;
    throw new ExampleError(
      `${error.message}\nThe example's receiver is on this machine; by default endpoints must be elsewhere.\n` +
        "Start the service with OUTBOUND_ALLOW_PRIVATE=true npm start, and run the example again.",
      { cause: error },
    );
  }
}

/** Posts an order as a shop would, and once more as one that got no answer; returns the run that it started. */
async function sendOrder({ webhookEvents }: WorkflowClient, url: string): Promise<string> {
  const body = await readFile(new URL("order.json", import.meta.url), "utf8");
  const headers = {
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
    "x-shop": "Corner shop",
  };
  const first = await post(url, { headers, body });
  const event = await webhookEvents.get(first.eventId);
  const runId = event.workflowsTriggered[0]?.runId ?? "";
  console.log(`Event ${event.id} started ${runId}`);
  const second = await post(url, { headers, body });
  const isSame = second.eventId === first.eventId ? "is the same event" : "IS ANOTHER EVENT";
  console.log(`Sent again it ${isSame}`);
  return runId;
}

async function post(
  url: string,
  request: { headers: Record<string, string>; body: string },
): Promise<{ eventId: string }> {
  const response = await fetch(url, { method: "POST", ...request });
  const text = await response.text();
  if (!response.ok) throw new ExampleError(`POST ${url}: ${response.status} ${text}`);
  return JSON.parse(text);
}

/** Prints what the receiver got, and that it takes nothing else. */
async function showDelivery(receiver: Receiver, runId: string): Promise<void> {
  const { id, type, output } = await receiver.deliveryOf(runId);
  console.log(`Delivery ${id}: ${type} of ${runId}, its signature is right`);
  const forged = await fetch(receiver.url, {
    method: "POST",
    headers: { "x-webhook-signature": `t=${Math.floor(Date.now() / 1_000)},v1=${"0".repeat(64)}` },
    body: JSON.stringify({ id: "evt_forged", type, runId, output: "anything" }),
  });
  console.log(`A forged one was answered ${forged.status}`);
  console.log(`\nOutput of the run:\n${JSON.stringify(output, null, 2)}`);
}
