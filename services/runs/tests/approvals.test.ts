import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, sql } from "@workflow/db";
import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import type { Approval, DecideApprovalRequest } from "@workflow/proto/runs/v1/approvals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { Identity } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  approval,
  mapping,
  outputOf,
  parallel,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;

beforeAll(async () => {
  harness = await startRunsHarness();
});
afterAll(() => harness.close());

const approvalsOf = async (runId: string, identity: Identity = harness.identity) =>
  (await harness.approvals.listRunApprovals({ runId }, { identity })).approvals;

function decide(
  { runId, id }: Pick<Approval, "runId" | "id">,
  more: Partial<DecideApprovalRequest> = {},
  identity: Identity = harness.identity,
) {
  return harness.approvals.decideApproval(
    {
      runId,
      approvalId: id,
      decision: ApprovalStatus.APPROVED,
      comment: undefined,
      dataJson: undefined,
      ...more,
    },
    { identity },
  );
}

/** A run that waits for an approval, and that approval. */
async function waiting(config: object = {}, more: object = {}): Promise<Approval> {
  const workflowId = await harness.deploy([
    approval("ask", config, more),
    mapping("then", "{{steps.ask.output}}"),
  ]);
  return waitingOf(await harness.start(workflowId));
}

const waitingOf = (runId: string): Promise<Approval> =>
  waitFor(async () => {
    const run = await harness.get(runId);
    const [first] = await approvalsOf(runId);
    return run.status === RunStatus.WAITING_APPROVAL && first !== undefined ? first : null;
  });

describe("an approval", () => {
  it("is shown while it waits", async () => {
    const form = { type: "object", properties: { amount: { type: "number" } } };
    const asked = await waiting({ message: "Pay?", form, timeoutMs: 60_000 });
    expect(asked).toMatchObject({
      stepId: "ask",
      path: "ask",
      status: ApprovalStatus.WAITING,
      message: "Pay?",
      formJson: JSON.stringify(form),
      decidedAt: undefined,
      decidedBy: undefined,
    });
    expect(asked.id).toMatch(/^apr_[0-9a-z]{26}$/);
    const leftMs = Number(asked.timeoutAt) - Number(asked.createdAt);
    expect(leftMs).toBeGreaterThan(50_000);
    await harness.runs.cancelRun({ runId: asked.runId }, { identity: harness.identity });
  });

  it("lets the run go on with what was decided", async () => {
    const asked = await waiting();
    const decided = await decide(asked, { comment: "fine", dataJson: '{ "n": 1 }' });
    expect(decided).toMatchObject({
      id: asked.id,
      status: ApprovalStatus.APPROVED,
      decidedBy: harness.identity.principal.id,
      comment: "fine",
      dataJson: '{ "n": 1 }',
    });
    expect(decided.decidedAt).toBeInstanceOf(Date);
    const run = await harness.waitForEnd(asked.runId);
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(outputOf(run)).toEqual({
      decision: "approved",
      by: harness.identity.principal.id,
      comment: "fine",
      data: { n: 1 },
    });
    expect(await approvalsOf(asked.runId)).toEqual([decided]);
  });

  it("that is rejected fails the run, unless the step goes on", async () => {
    const hard = await waiting();
    await decide(hard, { decision: ApprovalStatus.REJECTED, comment: "no" });
    expect((await harness.waitForEnd(hard.runId)).status).toBe(RunStatus.FAILED);
    const soft = await waiting({}, { onError: "continue" });
    await decide(soft, { decision: ApprovalStatus.REJECTED });
    expect((await harness.waitForEnd(soft.runId)).status).toBe(RunStatus.COMPLETED);
  });

  it("is decided by exactly one of 20 who decide at once; the others hear what it is", async () => {
    const asked = await waiting();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        decide(asked, {
          decision: index % 2 === 0 ? ApprovalStatus.APPROVED : ApprovalStatus.REJECTED,
        }),
      ),
    );
    const winners = outcomes.filter(({ status }) => status === "fulfilled");
    expect(winners).toHaveLength(1);
    const [decided] = await approvalsOf(asked.runId);
    const status = decided?.status === ApprovalStatus.APPROVED ? "approved" : "rejected";
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") continue;
      expect(outcome.reason).toMatchObject({ reason: "CONFLICT", details: { status } });
    }
    const run = await harness.waitForEnd(asked.runId);
    expect(run.status).toBe(status === "approved" ? RunStatus.COMPLETED : RunStatus.FAILED);
  });

  it("and a cancellation at once leave the run in a state that fits what was answered", async () => {
    for (let round = 0; round < 10; round++) {
      const asked = await waiting();
      const [decision, cancellation] = await Promise.allSettled([
        decide(asked),
        harness.runs.cancelRun({ runId: asked.runId }, { identity: harness.identity }),
      ]);
      const run = await harness.waitForEnd(asked.runId);
      const [after] = await approvalsOf(asked.runId);
      expect(run.status).toBe(
        cancellation.status === "fulfilled" ? RunStatus.CANCELLED : RunStatus.COMPLETED,
      );
      expect(after?.status).toBe(
        decision.status === "fulfilled" ? ApprovalStatus.APPROVED : ApprovalStatus.CANCELLED,
      );
    }
  });

  it("of a cancelled run is cancelled, and cannot be decided", async () => {
    const asked = await waiting();
    await harness.runs.cancelRun({ runId: asked.runId }, { identity: harness.identity });
    expect(await approvalsOf(asked.runId)).toMatchObject([
      { status: ApprovalStatus.CANCELLED, decidedBy: undefined },
    ]);
    await expect(decide(asked)).rejects.toMatchObject({
      reason: "CONFLICT",
      details: { status: "cancelled" },
    });
  });

  it("that timed out says so, and cannot be decided", async () => {
    // The wait may be over before anybody looks, so nothing here depends on seeing it.
    const config = { timeoutMs: 300, onTimeout: "approve" };
    const runId = await harness.start(await harness.deploy([approval("ask", config)]));
    expect((await harness.waitForEnd(runId)).status).toBe(RunStatus.COMPLETED);
    const [asked] = await approvalsOf(runId);
    expect(asked).toMatchObject({ status: ApprovalStatus.TIMED_OUT });
    await expect(decide({ runId, id: String(asked?.id) })).rejects.toMatchObject({
      reason: "CONFLICT",
      details: { status: "timed_out" },
    });
  });

  it("whose time is over cannot be decided even before a worker has noticed", async () => {
    const asked = await waiting({ timeoutMs: 3_600_000 });
    await harness.database.query(sql.type(z.object({}))`
      update runs.approvals set timeout_at = now() - interval '1 second' where id = ${asked.id}
    `);
    await expect(decide(asked)).rejects.toMatchObject({
      reason: "CONFLICT",
      details: { status: "timed_out" },
    });
    await harness.runs.cancelRun({ runId: asked.runId }, { identity: harness.identity });
  });

  it("takes only data that fits its form, and names what does not", async () => {
    const form = {
      type: "object",
      properties: { amount: { type: "number" } },
      required: ["amount"],
    };
    const asked = await waiting({ form });
    for (const [dataJson, path] of [
      ['{"amount":"much"}', ["data", "amount"]],
      ["[]", ["data"]],
      ["null", ["data"]],
      // An approval without data counts as one with an empty object.
      [undefined, ["data", "amount"]],
    ] as const) {
      await expect(decide(asked, { dataJson })).rejects.toMatchObject({
        reason: "BAD_REQUEST",
        violations: [{ path }],
      });
    }
    await expect(
      decide(asked, { decision: ApprovalStatus.REJECTED, dataJson: "1" }),
    ).rejects.toMatchObject({ reason: "BAD_REQUEST" });
    await decide(asked, { decision: ApprovalStatus.REJECTED });
    expect((await harness.waitForEnd(asked.runId)).status).toBe(RunStatus.FAILED);
  });

  it("takes any JSON value when there is no form", async () => {
    for (const dataJson of ["1", '"text"', "null", "true", "[1,[2]]", " {} "]) {
      const asked = await waiting();
      expect((await decide(asked, { dataJson })).dataJson).toBe(dataJson);
      const output = outputOf(await harness.waitForEnd(asked.runId));
      expect(output).toMatchObject({ data: JSON.parse(dataJson) });
    }
  });

  it("refuses decisions of the wrong shape", async () => {
    const asked = await waiting();
    for (const [more, field] of [
      [{ decision: ApprovalStatus.UNSPECIFIED }, "decision"],
      [{ decision: ApprovalStatus.WAITING }, "decision"],
      [{ decision: ApprovalStatus.TIMED_OUT }, "decision"],
      [{ decision: ApprovalStatus.UNRECOGNIZED }, "decision"],
      [{ comment: "x".repeat(4_001) }, "comment"],
      [{ comment: "\0" }, "comment"],
      [{ dataJson: "" }, "data"],
      [{ dataJson: "1,2" }, "data"],
      [{ dataJson: "1],[2" }, "data"],
      [{ dataJson: '"\\u0000"' }, "data"],
      [{ dataJson: "[".repeat(65) + "]".repeat(65) }, "data"],
    ] as const) {
      await expect(decide(asked, more)).rejects.toMatchObject({
        reason: "BAD_REQUEST",
        violations: [{ path: [field] }],
      });
    }
    await expect(
      decide(asked, { dataJson: JSON.stringify("x".repeat(1024 * 1024)) }),
    ).rejects.toMatchObject({ reason: "PAYLOAD_TOO_LARGE" });
    expect((await decide(asked, { comment: "é".repeat(4_000) })).status).toBe(
      ApprovalStatus.APPROVED,
    );
  });

  it("that names its approvers is decided by them alone, whatever the address's capitals", async () => {
    const person = (id: string, email: string): Identity => ({
      ...harness.identity,
      principal: { type: "user", id, email, role: "member" },
    });
    const asked = await waiting({ approvers: { users: ["Ann@Example.test"] } });
    const refused = [person("user-2", "bob@example.test"), harness.identity];
    for (const caller of refused) {
      await expect(decide(asked, {}, caller)).rejects.toMatchObject({ reason: "FORBIDDEN" });
    }
    const ann = person("user-1", "ann@example.TEST");
    expect((await decide(asked, {}, ann)).decidedBy).toBe("user-1");
    // Even after the decision, others do not learn the status.
    await expect(decide(asked, {}, harness.identity)).rejects.toMatchObject({
      reason: "FORBIDDEN",
    });
    await expect(decide(asked, {}, ann)).rejects.toMatchObject({ reason: "CONFLICT" });
  });

  it("of another company, of another run, or of no form is not there", async () => {
    const asked = await waiting();
    const other = await waiting();
    for (const attempt of [
      () => decide(asked, {}, testIdentity()),
      () => decide({ runId: other.runId, id: asked.id }),
      () => decide({ runId: asked.runId, id: newId("apr_") }),
      () => decide({ runId: asked.runId, id: "apr_x" }),
      () => decide({ runId: "run_x", id: asked.id }),
      () => approvalsOf(asked.runId, testIdentity()),
      () => approvalsOf(newId("run_")),
      () => approvalsOf("x"),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ reason: "NOT_FOUND" });
    }
    expect(await approvalsOf(asked.runId)).toMatchObject([{ status: ApprovalStatus.WAITING }]);
  });

  it("needs the scopes for reading and for deciding", async () => {
    const reader = { ...harness.identity, scopes: ["runs:read"] };
    const runner = { ...harness.identity, scopes: ["workflows:execute"] };
    const nothing = { runId: newId("run_"), id: newId("apr_") };
    await expect(decide(nothing, {}, reader)).rejects.toMatchObject({ reason: "FORBIDDEN" });
    await expect(approvalsOf(nothing.runId, runner)).rejects.toMatchObject({ reason: "FORBIDDEN" });
    await expect(
      harness.approvals.listApprovals({ status: 0, page: undefined }, { identity: runner }),
    ).rejects.toMatchObject({ reason: "FORBIDDEN" });
  });
});

describe("a run with several approvals", () => {
  it("lists them in the order in which they were asked for, and waits for each", async () => {
    const workflowId = await harness.deploy([
      parallel("par", { left: [approval("l")], right: [approval("r")] }),
      approval("last"),
    ]);
    const runId = await harness.start(workflowId);
    await waitFor(async () => (await approvalsOf(runId)).length === 2);
    for (const each of await approvalsOf(runId)) await decide(each);
    const asked = await waitFor(async () => {
      const all = await approvalsOf(runId);
      return all.length === 3 ? all : null;
    });
    expect(
      asked
        .slice(0, 2)
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual(["par.left.l", "par.right.r"]);
    expect(asked[2]).toMatchObject({ path: "last", status: ApprovalStatus.WAITING });
    const ids = asked.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    if (asked[2] !== undefined) await decide(asked[2]);
    expect((await harness.waitForEnd(runId)).status).toBe(RunStatus.COMPLETED);
  });
});

describe("the approvals of a company", () => {
  it("are listed newest first, page by page, by status", async () => {
    const company = testIdentity();
    const workflowId = await harness.deploy([approval("ask")], { identity: company });
    const started: string[] = [];
    for (let count = 0; count < 7; count++) {
      const { run } = await harness.runs.startRun(
        {
          workflowId,
          inputJson: undefined,
          connectionId: undefined,
          idempotencyKey: undefined,
          triggerType: 0,
          waitMs: 0,
          requestId: undefined,
        },
        { identity: company },
      );
      started.push(run?.id ?? "");
    }
    const list = (status: ApprovalStatus, limit: number, cursor = "") =>
      harness.approvals.listApprovals({ status, page: { limit, cursor } }, { identity: company });
    await waitFor(async () => (await list(0, 100)).approvals.length === 7);
    const [newest] = (await list(0, 1)).approvals;
    if (newest !== undefined) await decide(newest, {}, company);

    const seen: Approval[] = [];
    let cursor = "";
    do {
      const page = await list(ApprovalStatus.WAITING, 4, cursor);
      seen.push(...page.approvals);
      cursor = page.page?.cursor ?? "";
    } while (cursor !== "");
    expect(seen.map(({ runId }) => runId).toSorted()).toEqual(
      started.filter((runId) => runId !== newest?.runId).toSorted(),
    );
    const ids = seen.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted().toReversed());
    expect((await list(ApprovalStatus.APPROVED, 10)).approvals).toMatchObject([{ id: newest?.id }]);

    const first = await list(ApprovalStatus.WAITING, 2);
    const foreign = first.page?.cursor ?? "";
    await expect(list(ApprovalStatus.APPROVED, 2, foreign)).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["cursor"] }],
    });
    for (const [status, limit] of [
      [ApprovalStatus.UNRECOGNIZED, 10],
      [ApprovalStatus.UNSPECIFIED, 101],
    ] as const) {
      await expect(list(status, limit)).rejects.toMatchObject({ reason: "BAD_REQUEST" });
    }
  });
});
