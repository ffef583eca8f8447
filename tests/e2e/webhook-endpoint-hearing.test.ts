import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { makeReceived, receivedBy } from "../support/received-webhooks.ts";
import { createActive, runToEnd } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let receiver: HttpDouble;
let workflowId: string;

beforeAll(async () => {
  receiver = await startHttpDouble();
  system = await startWholeSystem({ webhooks: { compareIntervalMs: 200 } });
  workflowId = await createActive(system);
});
afterAll(async () => {
  await system.stop();
  await receiver.close();
});

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
  const path = `/webhook-endpoints/${endpoint.id}`;
  await system.call("PUT", path, { body: { status: "disabled" } });
  await runToEnd(system, workflowId);
  await letPass();
  await system.call("PUT", path, { body: { status: "active" } });
  await compared();
  await runToEnd(system, workflowId);
  await waitFor(() => receivedBy(receiver, endpoint).length >= 2);
  expect(typesTold(endpoint)).toEqual(["workflow.completed", "workflow.started"]);
  await system.call("DELETE", path);
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
    ...["workflow.completed", "workflow.completed", "workflow.completed"],
    "workflow.started",
  ]);
  await system.call("DELETE", `/webhook-endpoints/${endpoint.id}`);
});
