import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import type { Approval } from "@workflow/proto/runs/v1/approvals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { sql } from "@workflow/db";
import { logEvents, startHttpDouble, waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  approval,
  delay,
  forEach,
  httpStep,
  mapping,
  outputOf,
  parallel,
  repeat,
  resultsOf,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let receiver: Awaited<ReturnType<typeof startHttpDouble>>;
let letGo: () => void = () => {};

beforeAll(async () => {
  harness = await startRunsHarness();
  await logEvents(harness.database);
  receiver = await startHttpDouble(async (request) => {
    if (request.path === "/held") await new Promise<void>((resolve) => (letGo = resolve));
    return { body: { ok: true } };
  });
});
afterAll(async () => {
  letGo();
  await harness.close();
  await receiver.close();
});

async function listApprovals(runId: string): Promise<Approval[]> {
  const { approvals, identity } = harness;
  return (await approvals.listRunApprovals({ runId }, { identity })).approvals;
}

/** Waits until a run waits for so many decisions. */
function waiting(runId: string, count = 1): Promise<Approval[]> {
  return waitFor(
    async () => {
      const open = (await listApprovals(runId)).filter(
        ({ status }) => status === ApprovalStatus.WAITING,
      );
      return open.length === count ? open : null;
    },
    { what: `${count} approvals of ${runId} to wait` },
  );
}

async function decide(
  { runId, id }: Approval,
  decision: ApprovalStatus,
  more: { comment?: string; data?: unknown } = {},
): Promise<void> {
  await harness.approvals.decideApproval(
    {
      runId,
      approvalId: id,
      decision,
      comment: more.comment,
      dataJson: more.data === undefined ? undefined : JSON.stringify(more.data),
    },
    { identity: harness.identity },
  );
}

const checkpoints = async (runId: string): Promise<number> => {
  const row = z.object({ count: z.number() });
  const { count } = await harness.database.one(sql.type(row)`
    select count(*) from runs.event_log
    where type = 'workflow.checkpoint' and payload -> 'data' ->> 'runId' = ${runId}
  `);
  return count;
};

describe("an approval step", () => {
  it("makes the run waiting_approval, and goes on with the decision as output", async () => {
    const workflowId = await harness.deploy([
      mapping("before", { who: "{{input.who}}" }),
      approval("ask", { message: "Pay {{input.who}}?", form: { type: "object" } }),
      mapping("after", "{{steps.ask.output}}"),
    ]);
    const runId = await harness.start(workflowId, { who: "Ada" });
    const [open] = await waiting(runId);
    if (open === undefined) throw new Error("nothing waits");
    await waitFor(
      async () => ((await harness.get(runId)).status === RunStatus.WAITING_APPROVAL ? true : null),
      { what: "the run to show that it waits" },
    );
    expect(open).toMatchObject({ stepId: "ask", path: "ask", message: "Pay Ada?", runId });
    expect(await checkpoints(runId)).toBe(1);
    await decide(open, ApprovalStatus.APPROVED, { comment: "fine", data: { amount: 5 } });
    const run = await harness.waitForEnd(runId);
    expect(outputOf(run)).toEqual({
      decision: "approved",
      by: "tests",
      comment: "fine",
      data: { amount: 5 },
    });
  });

  it("fails the run with APPROVAL_REJECTED, unless onError is continue", async () => {
    const strict = await harness.deploy([approval("ask")]);
    const runId = await harness.start(strict);
    const [open] = await waiting(runId);
    if (open !== undefined) await decide(open, ApprovalStatus.REJECTED, { comment: "too dear" });
    const run = await harness.waitForEnd(runId);
    expect(run.error).toMatchObject({
      code: "APPROVAL_REJECTED",
      message: "The approval was rejected: too dear",
    });
    const lenient = await harness.deploy([
      approval("ask", {}, { onError: "continue" }),
      mapping("after", {
        decision: "{{steps.ask.output.decision}}",
        why: "{{steps.ask.error.code}}",
      }),
    ]);
    const second = await harness.start(lenient);
    const [again] = await waiting(second);
    if (again !== undefined) await decide(again, ApprovalStatus.REJECTED);
    expect(outputOf(await harness.waitForEnd(second))).toEqual({
      decision: "rejected",
      why: "APPROVAL_REJECTED",
    });
  });

  it.each([
    ["fail", "APPROVAL_TIMEOUT", null],
    ["reject", "APPROVAL_REJECTED", null],
    ["approve", undefined, { decision: "approved", by: null, comment: null, data: null }],
  ])("after its time with onTimeout %s is timed_out", async (onTimeout, code, output) => {
    const workflowId = await harness.deploy([approval("ask", { timeoutMs: 60, onTimeout })]);
    const run = await harness.runToEnd(workflowId);
    expect(run.error?.code).toBe(code);
    if (code === undefined) expect(outputOf(run)).toEqual(output);
    const [asked] = await listApprovals(run.id);
    expect(asked?.status).toBe(ApprovalStatus.TIMED_OUT);
    expect(Number(asked?.decidedAt)).toBeGreaterThanOrEqual(Number(asked?.timeoutAt));
  });

  it("is decided while another branch is at work, and its branch goes on meanwhile", async () => {
    const workflowId = await harness.deploy([
      parallel("p", {
        held: [httpStep("h", `${receiver.url}/held`)],
        asks: [approval("ask"), httpStep("then", `${receiver.url}/then`)],
      }),
    ]);
    const runId = await harness.start(workflowId);
    const [open] = await waiting(runId);
    if (open !== undefined) await decide(open, ApprovalStatus.APPROVED);
    await waitFor(() => (receiver.requests.some(({ path }) => path === "/then") ? true : null), {
      what: "the branch to go on",
    });
    letGo();
    expect((await harness.waitForEnd(runId)).status).toBe(RunStatus.COMPLETED);
  });

  it("waits in each item of a parallel, in a loop, with the decisions in any order", async () => {
    const workflowId = await harness.deploy([
      forEach(
        "p",
        ["a", "b", "c"],
        [
          repeat("l", { count: 2 }, [
            approval("ask", { message: "{{loop.index}}" }),
            delay("d", 10),
            mapping("m", "{{steps.ask.output.comment}}"),
          ]),
        ],
      ),
    ]);
    const runId = await harness.start(workflowId);
    for (const round of ["1", "2"]) {
      const open = (await waiting(runId, 3)).toSorted(() => Math.random() - 0.5);
      for (const each of open) {
        await decide(each, ApprovalStatus.APPROVED, { comment: each.path.slice(0, 4) + round });
      }
    }
    const run = await harness.waitForEnd(runId);
    expect(outputOf(run)).toEqual([
      ["p[0]1", "p[0]2"],
      ["p[1]1", "p[1]2"],
      ["p[2]1", "p[2]2"],
    ]);
    expect(await checkpoints(runId)).toBe(6);
  });

  it("that nobody waits for any more is cancelled", async () => {
    const race = await harness.deploy([
      parallel("p", { a: [approval("ask")], b: [delay("d", 50)] }, { strategy: "wait-any" }),
    ]);
    const run = await harness.runToEnd(race);
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect((await listApprovals(run.id)).map(({ status }) => status)).toEqual([
      ApprovalStatus.CANCELLED,
    ]);
  });

  it("is cancelled with its run", async () => {
    const runId = await harness.start(await harness.deploy([approval("ask")]));
    await waiting(runId);
    await harness.runs.cancelRun({ runId }, { identity: harness.identity });
    expect((await listApprovals(runId)).map(({ status }) => status)).toEqual([
      ApprovalStatus.CANCELLED,
    ]);
    expect(resultsOf(await harness.get(runId))).toEqual([]);
  });
});
