import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { deliverySchema, makeReceived, receivedBy } from "../support/received-webhooks.ts";
import { createActive, runToEnd } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let receiver: HttpDouble;
let workflowId: string;
/** Paths whose receiver says that it is gone. */
const gone = new Set<string>();

beforeAll(async () => {
  receiver = await startHttpDouble(({ path }) => ({ status: gone.has(path) ? 410 : 200 }));
  system = await startWholeSystem({ webhooks: { compareIntervalMs: 200 } });
  workflowId = await createActive(system);
});
afterAll(async () => {
  await system.stop();
  await receiver.close();
});

async function setStatus({ id }: { id: string }, status: string): Promise<unknown> {
  const { data } = await system.call("PUT", `/webhook-endpoints/${id}`, { body: { status } });
  return data;
}

async function listDeliveries({ id }: { id: string }) {
  const { data } = await system.call("GET", `/webhook-endpoints/${id}/deliveries`);
  return z.array(deliverySchema).parse(data);
}

/** Resolves when a moment is further back than two clocks may differ. */
async function letPass(moment = Date.now()): Promise<void> {
  await waitFor(() => Date.now() > moment + 1_500);
}

/** Resolves when what ended until now has been compared with the events that have come. */
async function compared(): Promise<void> {
  const isOver = sql.type(z.object({ isOver: z.boolean() }))`
    select compared_until > ${new Date().toISOString()}::timestamptz as "isOver"
    from webhooks.comparisons
  `;
  await waitFor(async () => (await system.database.one(isOver)).isOver);
}

const told = z.object({ type: z.string() });

function typesTold(endpoint: { url: string }): string[] {
  const bodies = receivedBy(receiver, endpoint).map(({ body }) => told.parse(JSON.parse(body)));
  return bodies.map(({ type }) => type).toSorted();
}

it("what happened while a caller had it disabled is not told afterwards, however late it is found", async () => {
  const endpoint = await makeReceived(system, receiver);
  await setStatus(endpoint, "disabled");
  await runToEnd(system, workflowId);
  await letPass();
  await setStatus(endpoint, "active");
  await compared();
  await runToEnd(system, workflowId);
  await waitFor(() => receivedBy(receiver, endpoint).length >= 2);
  expect(typesTold(endpoint)).toEqual(["workflow.completed", "workflow.started"]);
  await system.call("DELETE", `/webhook-endpoints/${endpoint.id}`);
});

it("a choice of events counts from when it is made; what both choices name is told, however late", async () => {
  const endpoint = await makeReceived(system, receiver, { events: ["workflow.completed"] });
  const { id: runId } = await runToEnd(system, workflowId);
  await waitFor(() => receivedBy(receiver, endpoint).length === 1);
  await letPass();
  await system.call("PUT", `/webhook-endpoints/${endpoint.id}`, { body: { events: null } });
  // As if the bus had lost all of the run.
  for (const table of ["deliveries", "outbound_events"]) {
    await system.database.query(sql.type(z.object({}))`
      delete from ${sql.identifier(["webhooks", table])} where run_id = ${runId}
    `);
  }
  await compared();
  await waitFor(() => receivedBy(receiver, endpoint).length >= 2);
  await runToEnd(system, workflowId);
  await waitFor(() => receivedBy(receiver, endpoint).length >= 4);
  expect(typesTold(endpoint)).toEqual([
    "workflow.completed",
    "workflow.completed",
    "workflow.completed",
    "workflow.started",
  ]);
  await system.call("DELETE", `/webhook-endpoints/${endpoint.id}`);
});

it("what is held for one whose receiver is gone goes out when it is active, and fails by a caller's word", async () => {
  const [held, dropped] = [
    await makeReceived(system, receiver),
    await makeReceived(system, receiver),
  ];
  const told = await makeReceived(system, receiver, {
    events: ["webhook_endpoint.disabled"],
    workflowIds: [newUuid()],
  });
  for (const { url } of [held, dropped]) gone.add(new URL(url).pathname);
  await runToEnd(system, workflowId);
  // What is about no workflow is told whatever workflows are chosen.
  await waitFor(() => receivedBy(receiver, told).length === 2);
  expect(await setStatus(dropped, "disabled")).toMatchObject({ disabledReason: "caller" });
  const failed = await waitFor(async () => {
    const deliveries = await listDeliveries(dropped);
    return deliveries.every(({ status }) => status === "failed") && deliveries;
  });
  expect(new Set(failed.map(({ lastError }) => lastError))).toEqual(
    new Set(["The endpoint was disabled."]),
  );
  gone.clear();
  await setStatus(held, "active");
  await waitFor(async () => {
    const statuses = (await listDeliveries(held)).map(({ status }) => status);
    return statuses.filter((status) => status === "succeeded").length >= 2;
  });
  const before = receivedBy(receiver, dropped).length;
  await setStatus(dropped, "active");
  const { id: runId } = await runToEnd(system, workflowId);
  const later = await waitFor(() => {
    const requests = receivedBy(receiver, dropped).slice(before);
    return requests.length >= 2 && requests;
  });
  for (const { body } of later) expect(JSON.parse(body)).toMatchObject({ runId });
  await system.call("DELETE", `/webhook-endpoints/${dropped.id}`);
  const isLeft = sql.type(z.object({}))`
    select from webhooks.deliveries where endpoint_id = ${dropped.id}
  `;
  await waitFor(async () => !(await system.database.exists(isLeft)));
  for (const { id } of [held, told]) await system.call("DELETE", `/webhook-endpoints/${id}`);
});
