import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { createActive, runToEnd } from "../scenarios.ts";
import { makeEndpoint, NOBODY } from "../webhook-endpoints.ts";
import { makeWebhookEvent } from "../webhook-events.ts";
import { withId } from "./audited-request.ts";
import type { PrepareAudited } from "./audited-request.ts";

/** Requests of webhook endpoints and events that succeed, by route. */
export const WEBHOOKS: Readonly<Record<string, PrepareAudited>> = {
  "POST /webhook-endpoints": async () => ({
    path: "/webhook-endpoints",
    body: { name: "Ours", url: NOBODY, headers: { "x-token": "hush" }, description: "Ours" },
    resourceIds: null,
  }),
  "PUT /webhook-endpoints/{id}": async (system) => {
    const id = await makeEndpoint(system, system.acme);
    const body = { url: `${NOBODY}hush`, headers: { "x-token": "hush" } };
    return { path: `/webhook-endpoints/${id}`, body, resourceIds: [id] };
  },
  "DELETE /webhook-endpoints/{id}": async (system) => {
    const id = await makeEndpoint(system, system.acme);
    return { path: `/webhook-endpoints/${id}`, resourceIds: [id] };
  },
  "POST /webhook-endpoints/{id}/rotate-secret": async (system) => {
    const id = await makeEndpoint(system, system.acme);
    return { path: `/webhook-endpoints/${id}/rotate-secret`, resourceIds: [id] };
  },
  "POST /webhook-endpoints/{id}/test": async (system) => {
    const id = await makeEndpoint(system, system.acme);
    return { path: `/webhook-endpoints/${id}/test`, resourceIds: [id] };
  },
  "POST /webhook-endpoints/{id}/recover": async (system) => {
    const id = await makeEndpoint(system, system.acme);
    const body = { since: new Date(0).toISOString() };
    return { path: `/webhook-endpoints/${id}/recover`, body, resourceIds: [id] };
  },
  "POST /webhook-endpoints/{id}/deliveries/{deliveryId}/retry": async (system) => {
    const workflowId = await createActive(system);
    // One event only: the delivery of a second one could come at any moment, and wait for a day.
    const fields = { workflowIds: [workflowId], events: ["workflow.completed"] };
    const id = await makeEndpoint(system, system.acme, fields);
    await runToEnd(system, workflowId);
    const path = `/webhook-endpoints/${id}/deliveries`;
    const delivery = await waitFor(async () => {
      const { data } = await system.call("GET", path);
      return z.array(withId).parse(data)[0] ?? null;
    });
    return { path: `${path}/${delivery.id}/retry`, resourceIds: [delivery.id] };
  },
  "POST /webhook-events/{id}/replay": async (system) => {
    const id = await makeWebhookEvent(system, system.acme);
    return { path: `/webhook-events/${id}/replay`, resourceIds: null };
  },
};
