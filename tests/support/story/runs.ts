import { z } from "zod";
import { waitForRun } from "../scenarios.ts";
import type { RunStatus } from "../scenarios.ts";
import type { Storyteller } from "./storyteller.ts";

const started = z.looseObject({ run_id: z.string() });
const restarted = z.looseObject({ newRunId: z.string() });
const waiting = z.tuple([z.looseObject({ id: z.string() })]);
const ADA = { customer: "Ada Lovelace", amount: 129.5 };
const GRACE = { customer: "Grace Hopper", amount: 80 };

/** The shop at which orders are booked. */
export interface Shop {
  url: string;
  /** Whether the shop books orders; otherwise it answers 503. */
  isOpen: boolean;
}

/** Orders come in: one is booked, one is repeated, one is waited for, and one finds the shop closed. */
export async function tellOfRuns(story: Storyteller, id: string, shop: Shop): Promise<void> {
  const params = { id };
  const order = { input: ADA, idempotencyKey: "order-4711" };
  const first = started.parse(
    await story.tell("runWorkflow", { name: "async", params, body: order }),
  );
  const run = { id: first.run_id };
  await end(story, first.run_id);
  await story.tell("runWorkflow", { name: "repeated", params, body: order });
  await story.tell("runWorkflow", { name: "sync", params, body: { input: GRACE, mode: "sync" } });
  await story.tell("getRun", { params: run });
  await story.tell("getRunLogs", { params: run });
  await story.tell("listRunSteps", { params: run });
  await story.tell("getRunStep", { params: { ...run, path: "book" } });
  await story.tell("watchRun", { params: run });
  shop.isOpen = false;
  const failed = started.parse(
    await story.tell("runWorkflow", {
      name: "failedInSync",
      params,
      body: { input: GRACE, mode: "sync", onFailure: "switch_to_async" },
    }),
  );
  shop.isOpen = true;
  await story.tell("listWorkflowRuns", { params, query: { status: "failed" } });
  const again = restarted.parse(await story.tell("retryRun", { params: { id: failed.run_id } }));
  await end(story, again.newRunId);
  const other = await story.tell("restartRun", {
    params: run,
    body: { fromStepId: "book", overrideInput: { amount: 140 } },
  });
  await end(story, restarted.parse(other).newRunId);
  await story.tell("listRuns", { query: { workflowId: id, status: "completed", limit: "2" } });
}

/** Refunds wait for a person. */
export async function tellOfApprovals(story: Storyteller): Promise<void> {
  const id = await story.make("createWorkflow", {
    name: "withApproval",
    body: {
      name: "Refund",
      trigger: { type: "api" },
      steps: [
        {
          id: "ask",
          type: "approval",
          name: "Ask the office",
          config: { message: "Refund {{input.amount}} to {{input.customer}}?" },
        },
      ],
    },
  });
  const params = { id };
  await story.system.call("POST", `/workflows/${id}/activate`);
  const refund = { input: ADA, mode: "sync", maxExecutionTimeMs: 2_000 };
  const told = await story.tell("runWorkflow", { name: "timedOut", params, body: refund });
  const { run_id: runId } = started.parse(told);
  await end(story, runId, ["waiting_approval"]);
  const asked = await story.tell("listRunApprovals", { params: { id: runId } });
  const [{ id: approvalId }] = waiting.parse(asked);
  await story.tell("listApprovals", { query: { status: "waiting" } });
  await story.tell("decideApproval", {
    params: { id: runId, approvalId },
    body: { decision: "approved", comment: "The parcel came back." },
  });
  await end(story, runId);
  const start = async (): Promise<string> => {
    const { data } = await story.system.call("POST", `/workflows/${id}/run`, {
      body: { input: GRACE },
    });
    const { run_id: started_ } = started.parse(data);
    await end(story, started_, ["waiting_approval"]);
    return started_;
  };
  await story.tell("cancelRun", { params: { id: await start() } });
  await story.tell("bulkRuns", { body: { action: "cancel", runIds: [await start(), runId] } });
}

async function end(
  story: Storyteller,
  runId: string,
  statuses: readonly RunStatus[] = ["completed", "failed"],
): Promise<void> {
  await waitForRun(story.system, runId, statuses);
}
