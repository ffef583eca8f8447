import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ApiClient, ApiError } from "../order-intake/client.ts";
import type { Workflow } from "../order-intake/client.ts";
import { startReceiver } from "./receiver.ts";
import type { Receiver } from "./receiver.ts";

/** The fields of the API's answers that the example looks at. */
interface Endpoint {
  id: string;
  secret: string;
}

interface InboundEvent {
  id: string;
  workflowsTriggered: { workflowId: string; runId: string }[];
}

interface Received {
  eventId: string;
  workflowsTriggered: number;
}

process.exitCode = await main(process.env);

async function main(env: NodeJS.ProcessEnv): Promise<number> {
  const [apiKey, companyId] = [env["API_KEY"] ?? "", env["COMPANY_ID"] ?? ""];
  if (apiKey === "" || companyId === "") {
    console.error(
      "API_KEY or COMPANY_ID is not set. npm start shows both on its first start; another key comes from\n" +
        "npm run admin -- create-api-key --company ID --name example " +
        "--scopes workflows:read,workflows:write,runs:read",
    );
    return 1;
  }
  const baseUrl = env["BASE_URL"] ?? "";
  const address = baseUrl === "" ? "http://localhost:8080/api/v1" : baseUrl;
  const api = new ApiClient(address, apiKey);
  const receiver = await startReceiver();
  try {
    const workflow = await prepareWorkflow(api);
    await withEndpoint(api, receiver, workflow.id, async () => {
      const { trigger } = await readJson<{ trigger: { path: string } }>("workflow.json");
      const path = `/webhooks/custom/${companyId}/${trigger.path}`;
      const runId = await sendOrder(api, new URL(path, address).href);
      await showDelivery(receiver, runId);
    });
    return 0;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.error(error.message);
    return 1;
  } finally {
    receiver.close();
  }
}

/** Makes an endpoint that hears of the ends of a workflow's runs, for as long as something takes. */
async function withEndpoint(
  api: ApiClient,
  receiver: Receiver,
  workflowId: string,
  use: () => Promise<void>,
): Promise<void> {
  const endpoint = await makeEndpoint(api, receiver, workflowId);
  try {
    // Nobody is told the secret again.
    receiver.trust(endpoint.secret);
    console.log(`Endpoint ${endpoint.id} delivers to ${receiver.url}`);
    await use();
  } finally {
    await api.call("DELETE", `/webhook-endpoints/${endpoint.id}`);
  }
}

async function makeEndpoint(
  api: ApiClient,
  { url }: Receiver,
  workflowId: string,
): Promise<Endpoint> {
  try {
    return await api.call<Endpoint>("POST", "/webhook-endpoints", {
      name: "Webhooks (example)",
      url,
      events: ["workflow.completed", "workflow.failed"],
      workflowIds: [workflowId],
    });
  } catch (error) {
    if (!(error instanceof ApiError) || !error.message.includes(": 400 ")) throw error;
    throw new ApiError(
      `${error.message}\nThe example's receiver is on this machine; by default endpoints must be elsewhere.\n` +
        "Start the service with OUTBOUND_ALLOW_PRIVATE=true npm start, and run the example again.",
      { cause: error },
    );
  }
}

/** Posts an order as a shop would, and once more as one that got no answer; returns the run that it started. */
async function sendOrder(api: ApiClient, url: string): Promise<string> {
  const body = await readFile(new URL("order.json", import.meta.url), "utf8");
  const headers = {
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
    "x-shop": "Corner shop",
  };
  const first = await post(url, { headers, body });
  const event = await api.call<InboundEvent>("GET", `/webhook-events/${first.eventId}`);
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
): Promise<Received> {
  const response = await fetch(url, { method: "POST", ...request });
  const text = await response.text();
  if (!response.ok) throw new ApiError(`POST ${url}: ${response.status} ${text}`);
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

/** The example's workflow, active and as in workflow.json; made on the first run. */
async function prepareWorkflow(api: ApiClient): Promise<Workflow> {
  const definition = await readJson<{ name: string }>("workflow.json");
  const query = new URLSearchParams({ search: definition.name, limit: "100" });
  const found = await api.call<Workflow[]>("GET", `/workflows?${query.toString()}`);
  const known = found.find(({ name, status }) => name === definition.name && status !== "archived");
  const workflow =
    known === undefined
      ? await api.call<Workflow>("POST", "/workflows", definition)
      : await api.call<Workflow>("PUT", `/workflows/${known.id}`, definition);
  if (workflow.status !== "active") await api.call("POST", `/workflows/${workflow.id}/activate`);
  return workflow;
}

async function readJson<Content>(path: string): Promise<Content> {
  return JSON.parse(await readFile(new URL(path, import.meta.url), "utf8"));
}
