import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import type { Workflow } from "@workflow/proto/workflows/v1/workflows";
import type { Identity } from "@workflow/rpc";
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
});
afterAll(() => harness.close());

type Operation = "activateWorkflow" | "pauseWorkflow" | "archiveWorkflow";

const revisionsRow = z.object({ due: z.number(), done: z.number() });

const change = (operation: Operation, workflowId: string, identity: Identity): Promise<Workflow> =>
  harness.client[operation]({ workflowId }, { identity });

/** A workflow that was brought into a status in the ordinary way. */
async function createIn(status: string, identity: Identity): Promise<string> {
  const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
  if (status === "active" || status === "paused") await change("activateWorkflow", id, identity);
  if (status === "paused") await change("pauseWorkflow", id, identity);
  if (status === "archived") await change("archiveWorkflow", id, identity);
  return id;
}

const allowed = [
  { from: "draft", operation: "activateWorkflow", to: WorkflowStatus.ACTIVE },
  { from: "paused", operation: "activateWorkflow", to: WorkflowStatus.ACTIVE },
  { from: "active", operation: "pauseWorkflow", to: WorkflowStatus.PAUSED },
  { from: "draft", operation: "archiveWorkflow", to: WorkflowStatus.ARCHIVED },
  { from: "active", operation: "archiveWorkflow", to: WorkflowStatus.ARCHIVED },
  { from: "paused", operation: "archiveWorkflow", to: WorkflowStatus.ARCHIVED },
  { from: "archived", operation: "archiveWorkflow", to: WorkflowStatus.ARCHIVED },
] as const;

const refused = [
  { from: "active", operation: "activateWorkflow", to: "active", instead: ["paused", "archived"] },
  { from: "archived", operation: "activateWorkflow", to: "active", instead: [] },
  { from: "draft", operation: "pauseWorkflow", to: "paused", instead: ["active", "archived"] },
  { from: "paused", operation: "pauseWorkflow", to: "paused", instead: ["active", "archived"] },
  { from: "archived", operation: "pauseWorkflow", to: "paused", instead: [] },
] as const;

describe("a change of status", () => {
  it.each(allowed)("$operation works from $from", async ({ from, operation, to }) => {
    const identity = newIdentity();
    const id = await createIn(from, identity);
    const answered = await change(operation, id, identity);
    expect(answered).toMatchObject({ id, status: to, version: 1 });
    const stored = await harness.client.getWorkflow({ workflowId: id }, { identity });
    expect(stored).toEqual(answered);
  });

  it.each(refused)(
    "$operation is refused from $from, saying what would be possible, and changes nothing",
    async ({ from, operation, to, instead }) => {
      const identity = newIdentity();
      const id = await createIn(from, identity);
      const before = await harness.client.getWorkflow({ workflowId: id }, { identity });
      const error = await errorOf(change(operation, id, identity));
      expect(error.reason).toBe("BAD_REQUEST");
      expect(error.details).toEqual({
        currentStatus: from,
        targetStatus: to,
        allowedTransitions: instead,
      });
      const after = await harness.client.getWorkflow({ workflowId: id }, { identity });
      expect(after).toEqual(before);
    },
  );

  it("says of an active workflow that it is already active", async () => {
    const identity = newIdentity();
    const { id } = await createActive(harness.client, identity);
    const error = await errorOf(change("activateWorkflow", id, identity));
    expect(error.message).toBe("The workflow is already active.");
  });

  it("to archived a second time does not even touch updatedAt (D21)", async () => {
    const identity = newIdentity();
    const { id } = await createActive(harness.client, identity);
    const first = await change("archiveWorkflow", id, identity);
    const second = await change("archiveWorkflow", id, identity);
    expect(second).toEqual(first);
    expect(harness.runs.revisionsFor(id)).toEqual([1, 2]);
  });

  it("to active is refused with VALIDATION_ERROR when the stored definition is not executable", async () => {
    const identity = newIdentity();
    const { id } = await harness.client.createWorkflow(validWorkflow(), { identity });
    await harness.database.query(sql.unsafe`
      update workflows.workflows
      set steps = '[{"id":"a","type":"teleport","name":"A","config":{}}]'
      where id = ${id}
    `);
    const error = await errorOf(change("activateWorkflow", id, identity));
    expect(error.reason).toBe("VALIDATION_ERROR");
    expect(error.violations[0]?.path.slice(0, 2)).toEqual(["steps", "0"]);
    const stored = await harness.client.getWorkflow({ workflowId: id }, { identity });
    expect(stored.status).toBe(WorkflowStatus.DRAFT);
    expect(harness.runs.requestsFor(id)).toEqual([]);
  });
});

describe("20 clients at once", () => {
  it.each([
    { from: "draft", operation: "activateWorkflow" },
    { from: "paused", operation: "activateWorkflow" },
    { from: "active", operation: "pauseWorkflow" },
  ] as const)("$operation from $from succeeds for exactly one", async ({ from, operation }) => {
    const identity = newIdentity();
    const id = await createIn(from, identity);
    const revision = harness.runs.deployed.get(id)?.revision ?? 0;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => change(operation, id, identity)),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const reasons = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [outcome.reason] : [],
    );
    for (const reason of reasons) expect(reason).toMatchObject({ reason: "BAD_REQUEST" });
    expect(harness.runs.deployed.get(id)?.revision).toBe(revision + 1);
  });

  it("archiving succeed all, and the execution plane is told once", async () => {
    const identity = newIdentity();
    const { id } = await createActive(harness.client, identity);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => change("archiveWorkflow", id, identity)),
    );
    expect(new Set(answers.map(({ updatedAt }) => updatedAt?.getTime())).size).toBe(1);
    expect(harness.runs.deployed.get(id)?.revision).toBe(2);
  });

  it("activating, pausing and archiving in any order leave both planes with the same status", async () => {
    const identity = newIdentity();
    const id = await createIn("draft", identity);
    const operations = ["activateWorkflow", "pauseWorkflow", "archiveWorkflow"] as const;
    await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        change(operations[index === 13 ? 2 : index % 2] ?? "pauseWorkflow", id, identity),
      ),
    );
    const { status } = await harness.client.getWorkflow({ workflowId: id }, { identity });
    expect(status).toBe(WorkflowStatus.ARCHIVED);
    const revisions = await harness.database.one(sql.type(revisionsRow)`
      select deploy_revision as due, deployed_revision as done
      from workflows.workflows where id = ${id}
    `);
    expect(revisions).toEqual({ due: revisions.due, done: revisions.due });
    expect(harness.runs.deployed.get(id)?.revision ?? 0).toBe(revisions.due);
  });
});
