import { z } from "zod";
import type { LoadRequest } from "./load-protocol.ts";
import type { System } from "./system.ts";

const created = z.object({ data: z.object({ id: z.uuid() }) });

/** The input of every run: a small order. */
export const RUN_INPUT = {
  orderId: "ord_48213",
  customer: { name: "Ada Lovelace", email: "ada@example.com" },
  items: [
    { sku: "A-100", quantity: 2, price: 19.5 },
    { sku: "B-205", quantity: 1, price: 240 },
  ],
  total: 279,
};

const STEPS = [
  transform("order", { id: "{{input.orderId}}", total: "{{input.total}}" }),
  transform("greeting", { text: "Dear {{input.customer.name}}, order {{steps.order.output.id}}" }),
  transform("summary", {
    message: "{{steps.greeting.output.text}}",
    total: "{{steps.order.output.total}}",
    first: "{{input.items[0].sku}}",
  }),
];

/** Makes and activates a workflow of three mapping steps; returns its id. */
export async function createActiveWorkflow(system: System, name: string): Promise<string> {
  const body = { name, trigger: { type: "api" }, steps: STEPS };
  const { data } = created.parse(await post(system, "/workflows", body));
  await post(system, `/workflows/${data.id}/activate`, {});
  return data.id;
}

/** The request that reads a workflow. */
export function getWorkflowRequest(system: System, workflowId: string): LoadRequest {
  return {
    url: `${system.baseUrl}/workflows/${workflowId}`,
    method: "GET",
    headers: { "x-api-key": system.apiKey },
  };
}

/** The request that starts a run and, in sync mode, waits for its end. */
export function runRequest(
  system: System,
  workflowId: string,
  mode: "async" | "sync",
): LoadRequest {
  return {
    url: `${system.baseUrl}/workflows/${workflowId}/run`,
    method: "POST",
    headers: headers(system),
    body: JSON.stringify({ input: RUN_INPUT, mode }),
  };
}

/** What a request is answered with, as text. */
export async function fetchText(request: LoadRequest): Promise<string> {
  const { url, method, headers: requestHeaders, body } = request;
  const response = await fetch(url, { method, headers: requestHeaders, body: body ?? null });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
  return text;
}

function transform(id: string, mapping: Record<string, string>) {
  return { id, type: "transform", name: id, config: { mapping } };
}

async function post(system: System, path: string, body: unknown): Promise<unknown> {
  const text = await fetchText({
    url: system.baseUrl + path,
    method: "POST",
    headers: headers(system),
    body: JSON.stringify(body),
  });
  return JSON.parse(text);
}

function headers({ apiKey }: System): Record<string, string> {
  return { "x-api-key": apiKey, "content-type": "application/json" };
}
