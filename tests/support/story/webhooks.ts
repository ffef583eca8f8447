import { z } from "zod";
import type { Storyteller } from "./storyteller.ts";

const deliveries = z.array(z.looseObject({ id: z.string(), status: z.string() }));
const events = z.array(z.looseObject({ id: z.string(), status: z.string() }));

/** A receiver gets the events of booked orders. */
export async function tellOfEndpoints(
  story: Storyteller,
  receiver: string,
  workflowId: string,
): Promise<void> {
  await story.tell("listWebhookEventTypes");
  const id = await story.make("createWebhookEndpoint", {
    body: {
      name: "Back office",
      url: `${receiver}/workflows`,
      events: ["workflow.completed", "workflow.failed"],
      workflowIds: [workflowId],
    },
  });
  const params = { id };
  await story.tell("testWebhookEndpoint", { params, body: { eventType: "workflow.completed" } });
  await story.system.call("POST", `/workflows/${workflowId}/run`, {
    body: { input: { customer: "Ada Lovelace", amount: 129.5 }, mode: "sync" },
  });
  const deliveryId = await story.waitUntil(`/webhook-endpoints/${id}/deliveries`, (data) => {
    const [newest, ...others] = deliveries.parse(data);
    return newest !== undefined && others.length === 1 && newest.status === "succeeded"
      ? newest.id
      : null;
  });
  await story.tell("listWebhookDeliveries", { params });
  const delivery = { ...params, deliveryId };
  await story.tell("getWebhookDelivery", { params: delivery });
  await story.tell("retryWebhookDelivery", { params: delivery });
  await story.tell("rotateWebhookSecret", { params, body: { overlapSeconds: 3_600 } });
  await story.tell("recoverWebhookEndpoint", { params, body: { since: "2026-01-25T00:00:00Z" } });
  await story.tell("updateWebhookEndpoint", { params, body: { events: ["workflow.failed"] } });
  await story.tell("getWebhookEndpoint", { params });
  await story.tell("listWebhookEndpoints");
  await story.tell("deleteWebhookEndpoint", { params });
}

/** The shop reports a parcel that came back. */
export async function tellOfEvents(story: Storyteller): Promise<void> {
  const { system } = story;
  const id = await story.make("createWorkflow", {
    name: "startedByWebhook",
    body: {
      name: "Returned parcel",
      trigger: { type: "webhook", path: "parcels-5fd1c0" },
      steps: [
        {
          id: "note",
          type: "transform",
          name: "Note the order",
          config: { mapping: { order: "{{input.order}}" } },
        },
      ],
    },
  });
  await system.call("POST", `/workflows/${id}/activate`);
  const sent = await fetch(`${system.origin}/webhooks/custom/${system.acme.id}/parcels-5fd1c0`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "parcel-815" },
    body: JSON.stringify({ order: "4711", reason: "wrong size" }),
  });
  await sent.text();
  const eventId = await story.waitUntil("/webhook-events", (data) => {
    const [event] = events.parse(data);
    return event?.status === "processed" ? event.id : null;
  });
  await story.tell("listWebhookEvents", { query: { provider: "custom" } });
  await story.tell("getWebhookEvent", { params: { id: eventId } });
  await story.tell("replayWebhookEvent", { params: { id: eventId } });
}
