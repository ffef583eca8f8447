import { Client } from "pg";
import { z } from "zod";
import type { Scope } from "@workflow/async";
import { fetchText, getRequest, postRequest } from "./rest.ts";
import type { System } from "./system.ts";

const POLL_MS = 100;
const WITHIN_MS = 300_000;

const endpoint = z.object({ id: z.string(), status: z.string() });
const made = z.object({ data: endpoint });
const page = z.object({ data: z.array(endpoint) });

/** Makes an endpoint that gets the ends of runs; returns its id. */
export async function makeEndpoint(system: System, name: string, url: string): Promise<string> {
  const body = { name, url, events: ["workflow.completed"] };
  const answer = await fetchText(postRequest(system, "/webhook-endpoints", body));
  return made.parse(JSON.parse(answer)).data.id;
}

/** Makes many endpoints, some at a time; returns their ids. */
export async function makeEndpoints(
  system: System,
  count: number,
  urlOf: (index: number) => string,
): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 10) {
    const some = Array.from({ length: Math.min(10, count - index) }, (_, offset) =>
      makeEndpoint(system, `Endpoint ${index + offset}`, urlOf(index + offset)),
    );
    ids.push(...(await Promise.all(some)));
  }
  return ids;
}

export async function deleteEndpoint(system: System, id: string): Promise<void> {
  await fetchText({ ...getRequest(system, `/webhook-endpoints/${id}`), method: "DELETE" });
}

/** Makes an endpoint active again, which sends the deliveries that were held. */
export async function activateEndpoint(system: System, id: string): Promise<void> {
  const request = postRequest(system, `/webhook-endpoints/${id}`, { status: "active" });
  await fetchText({ ...request, method: "PUT" });
}

/** Waits until all endpoints of a company are disabled; a company has at most 100. */
export async function allDisabled(system: System): Promise<void> {
  await waitUntil("the endpoints to be disabled", async () => {
    const answer = await fetchText(getRequest(system, "/webhook-endpoints?limit=100"));
    return page.parse(JSON.parse(answer)).data.every(({ status }) => status === "disabled");
  });
}

/** The stored deliveries. */
export interface DeliveriesLog {
  /** Waits until at least this number of deliveries is pending. */
  pending(count: number): Promise<void>;
}

/** Opens the deliveries for reading. */
export async function openDeliveriesLog(scope: Scope, databaseUrl: string): Promise<DeliveriesLog> {
  const client = new Client({ connectionString: databaseUrl, application_name: "bench" });
  // A lost connection is reported by the next query.
  client.on("error", () => {});
  await client.connect();
  scope.defer(() => client.end());
  const countPending =
    "select count(*)::int as count from webhooks.deliveries where status = 'pending'";
  return {
    pending: (count) =>
      waitUntil(`${count} pending deliveries`, async () => {
        const { rows } = await client.query(countPending);
        return z.object({ count: z.number() }).parse(rows[0]).count >= count;
      }),
  };
}

async function waitUntil(what: string, isThere: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + WITHIN_MS;
  while (!(await isThere())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
