import { z } from "zod";
import type { LoadRequest } from "./load-protocol.ts";
import type { System } from "./system.ts";
import { COLUMNS } from "./table-rows.ts";

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

/**
 * Makes and activates a workflow, by default of three mapping steps and started by calls; returns its id.
 */
export async function createActiveWorkflow(
  system: System,
  name: string,
  steps: readonly unknown[] = STEPS,
  trigger: object = { type: "api" },
): Promise<string> {
  const body = { name, trigger, steps };
  const { data } = created.parse(await post(system, "/workflows", body));
  await post(system, `/workflows/${data.id}/activate`, {});
  return data.id;
}

/** The request that reads a workflow. */
export function getWorkflowRequest(system: System, workflowId: string): LoadRequest {
  return getRequest(system, `/workflows/${workflowId}`);
}

/** A GET request. */
export function getRequest(system: System, path: string): LoadRequest {
  return {
    url: system.baseUrl + path,
    method: "GET",
    headers: { "x-api-key": system.apiKey },
  };
}

/** The request that starts a run and, in sync mode, waits for its end. */
export function runRequest(
  system: System,
  workflowId: string,
  mode: "async" | "sync",
  input: unknown = RUN_INPUT,
): LoadRequest {
  return postRequest(system, `/workflows/${workflowId}/run`, { input, mode });
}

/** A request that starts a run with an idempotency key, which is new for each request. */
export function keyedRunRequest(system: System, workflowId: string): LoadRequest {
  const body = { input: RUN_INPUT, mode: "async", idempotencyKey: "[<id>]" };
  return {
    ...postRequest(system, `/workflows/${workflowId}/run`, body),
    idReplacement: true,
  };
}

/** A request that posts JSON. */
export function postRequest(system: System, path: string, body: unknown): LoadRequest {
  return {
    url: system.baseUrl + path,
    method: "POST",
    headers: headers(system),
    body: JSON.stringify(body),
  };
}

/** Imports a data table with these rows; returns its id. */
export async function importTable(
  system: System,
  name: string,
  rows: readonly unknown[],
): Promise<string> {
  const body = { name, columns: COLUMNS, maxRows: 100_000, rows };
  return created.parse(JSON.parse(await fetchText(postRequest(system, "/tables/import", body))))
    .data.id;
}

/** The body of the answer to a request. */
export async function fetchText(request: LoadRequest): Promise<string> {
  const { url, method, headers: requestHeaders, body } = request;
  const response = await fetch(url, { method, headers: requestHeaders, body: body ?? null });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
  return text;
}

/** A step that calls a URL. */
export function httpCall(id: string, url: string) {
  const config = { method: "POST", url, body: { n: "{{input.total}}" } };
  return { id, type: "action", name: id, action: "http.request", config };
}

/** A step that makes its mapping of its input. */
export function transform(id: string, mapping: unknown) {
  return { id, type: "transform", name: id, config: { mapping } };
}

async function post(system: System, path: string, body: unknown): Promise<unknown> {
  return JSON.parse(await fetchText(postRequest(system, path, body)));
}

function headers({ apiKey }: System): Record<string, string> {
  return { "x-api-key": apiKey, "content-type": "application/json" };
}
