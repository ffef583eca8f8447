import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { logEvents, waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  createActive,
  errorOf,
  newIdentity,
  startHarness,
  validWorkflow,
} from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
  await logEvents(harness.database, "workflows");
});
afterAll(() => harness.close());

/** The events about a workflow that were written into the outbox. */
async function outboxOf(workflowId: string): Promise<unknown[]> {
  const rows = await harness.database.any(sql.type(z.object({ payload: z.string() }))`
    select payload::text as payload from workflows.event_log order by seq
  `);
  return rows
    .map(({ payload }): { data?: { workflowId?: string } } => JSON.parse(payload))
    .filter(({ data }) => data?.workflowId === workflowId);
}

describe("workflow.archived", () => {
  it("is published with the workflow's id, its company and the request that caused it", async () => {
    const identity = newIdentity();
    const { id } = await createActive(harness.client, identity);
    const requestId = `request-${newUuid()}`;
    await harness.client.archiveWorkflow({ workflowId: id }, { identity, requestId });
    const event = await waitFor(
      () => harness.events.find(({ data }) => data["workflowId"] === id) ?? null,
    );
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: "workflow.archived",
      timestamp: expect.any(String),
      companyId: identity.companyId,
      requestId,
      data: { workflowId: id },
    });
  });

  it("comes once, however many archive at once and afterwards", async () => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    const archive = () => harness.client.archiveWorkflow({ workflowId: id }, { identity });
    await Promise.all(Array.from({ length: 20 }, archive));
    await archive();
    expect(await outboxOf(id)).toHaveLength(1);
  });

  it("is told also while the execution plane is away", async () => {
    const identity = newIdentity();
    const { id } = await createActive(harness.client, identity);
    await harness.runs.stop();
    try {
      const error = await errorOf(
        harness.client.archiveWorkflow({ workflowId: id }, { identity, timeoutMs: 2_500 }),
      );
      expect(error.reason).toBe("UNAVAILABLE");
      await waitFor(() => harness.events.some(({ data }) => data["workflowId"] === id));
    } finally {
      await harness.runs.start();
    }
  });

  it("is not told of a workflow of another company, nor of one that does not exist", async () => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    for (const workflowId of [id, newUuid()]) {
      const call = harness.client.archiveWorkflow({ workflowId }, { identity: newIdentity() });
      expect((await errorOf(call)).reason).toBe("NOT_FOUND");
      expect(await outboxOf(workflowId)).toEqual([]);
    }
  });
});
