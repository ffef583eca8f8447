import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, sql } from "@workflow/db";
import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { Identity } from "@workflow/rpc";
import { z } from "zod";
import { approval, outputOf, startRunsHarness, testIdentity } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";
import { approvalsOf, decide, startAsking } from "./support/asked-approvals.ts";

let harness: RunsHarness;

beforeAll(async () => {
  harness = await startRunsHarness();
});
afterAll(() => harness.close());

describe("an approval", () => {
  it("is shown while it waits", async () => {
    const form = { type: "object", properties: { amount: { type: "number" } } };
    const asked = await startAsking(harness, { message: "Pay?", form, timeoutMs: 60_000 });
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
    const asked = await startAsking(harness);
    const decided = await decide(harness, asked, { comment: "fine", dataJson: '{ "n": 1 }' });
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
    expect(await approvalsOf(harness, asked.runId)).toEqual([decided]);
  });

  it("that is rejected fails the run, unless the step goes on", async () => {
    const hard = await startAsking(harness);
    await decide(harness, hard, { decision: ApprovalStatus.REJECTED, comment: "no" });
    expect((await harness.waitForEnd(hard.runId)).status).toBe(RunStatus.FAILED);
    const soft = await startAsking(harness, {}, { onError: "continue" });
    await decide(harness, soft, { decision: ApprovalStatus.REJECTED });
    expect((await harness.waitForEnd(soft.runId)).status).toBe(RunStatus.COMPLETED);
  });

  it("is decided by exactly one of 20 who decide at once; the others hear what it is", async () => {
    const asked = await startAsking(harness);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        decide(harness, asked, {
          decision: index % 2 === 0 ? ApprovalStatus.APPROVED : ApprovalStatus.REJECTED,
        }),
      ),
    );
    const winners = outcomes.filter(({ status }) => status === "fulfilled");
    expect(winners).toHaveLength(1);
    const [decided] = await approvalsOf(harness, asked.runId);
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
      const asked = await startAsking(harness);
      const [decision, cancellation] = await Promise.allSettled([
        decide(harness, asked),
        harness.runs.cancelRun({ runId: asked.runId }, { identity: harness.identity }),
      ]);
      const run = await harness.waitForEnd(asked.runId);
      const [after] = await approvalsOf(harness, asked.runId);
      expect(run.status).toBe(
        cancellation.status === "fulfilled" ? RunStatus.CANCELLED : RunStatus.COMPLETED,
      );
      expect(after?.status).toBe(
        decision.status === "fulfilled" ? ApprovalStatus.APPROVED : ApprovalStatus.CANCELLED,
      );
    }
  });

  it("of a cancelled run is cancelled, and cannot be decided", async () => {
    const asked = await startAsking(harness);
    await harness.runs.cancelRun({ runId: asked.runId }, { identity: harness.identity });
    expect(await approvalsOf(harness, asked.runId)).toMatchObject([
      { status: ApprovalStatus.CANCELLED, decidedBy: undefined },
    ]);
    await expect(decide(harness, asked)).rejects.toMatchObject({
      reason: "CONFLICT",
      details: { status: "cancelled" },
    });
  });

  it("that timed out says so, and cannot be decided", async () => {
    // The wait may be over before the test reads it, so no expectation depends on that.
    const config = { timeoutMs: 300, onTimeout: "approve" };
    const runId = await harness.start(await harness.deploy([approval("ask", config)]));
    expect((await harness.waitForEnd(runId)).status).toBe(RunStatus.COMPLETED);
    const [asked] = await approvalsOf(harness, runId);
    expect(asked).toMatchObject({ status: ApprovalStatus.TIMED_OUT });
    await expect(decide(harness, { runId, id: String(asked?.id) })).rejects.toMatchObject({
      reason: "CONFLICT",
      details: { status: "timed_out" },
    });
  });

  it("whose time is over cannot be decided even before a worker has noticed", async () => {
    const asked = await startAsking(harness, { timeoutMs: 3_600_000 });
    await harness.database.query(sql.type(z.object({}))`
      update runs.approvals set timeout_at = now() - interval '1 second' where id = ${asked.id}
    `);
    await expect(decide(harness, asked)).rejects.toMatchObject({
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
    const asked = await startAsking(harness, { form });
    for (const [dataJson, path] of [
      ['{"amount":"much"}', ["data", "amount"]],
      ["[]", ["data"]],
      ["null", ["data"]],
      // An approval without data counts as one with an empty object.
      [undefined, ["data", "amount"]],
    ] as const) {
      await expect(decide(harness, asked, { dataJson })).rejects.toMatchObject({
        reason: "BAD_REQUEST",
        violations: [{ path }],
      });
    }
    await expect(
      decide(harness, asked, { decision: ApprovalStatus.REJECTED, dataJson: "1" }),
    ).rejects.toMatchObject({ reason: "BAD_REQUEST" });
    await decide(harness, asked, { decision: ApprovalStatus.REJECTED });
    expect((await harness.waitForEnd(asked.runId)).status).toBe(RunStatus.FAILED);
  });

  it("takes any JSON value when there is no form", async () => {
    for (const dataJson of ["1", '"text"', "null", "true", "[1,[2]]", " {} "]) {
      const asked = await startAsking(harness);
      expect((await decide(harness, asked, { dataJson })).dataJson).toBe(dataJson);
      const output = outputOf(await harness.waitForEnd(asked.runId));
      expect(output).toMatchObject({ data: JSON.parse(dataJson) });
    }
  });

  it("refuses decisions of the wrong shape", async () => {
    const asked = await startAsking(harness);
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
      await expect(decide(harness, asked, more)).rejects.toMatchObject({
        reason: "BAD_REQUEST",
        violations: [{ path: [field] }],
      });
    }
    await expect(
      decide(harness, asked, { dataJson: JSON.stringify("x".repeat(1024 * 1024)) }),
    ).rejects.toMatchObject({ reason: "PAYLOAD_TOO_LARGE" });
    expect((await decide(harness, asked, { comment: "é".repeat(4_000) })).status).toBe(
      ApprovalStatus.APPROVED,
    );
  });

  it("that names its approvers is decided by them alone, whatever the address's capitals", async () => {
    const person = (id: string, email: string): Identity => ({
      ...harness.identity,
      principal: { type: "user", id, email, role: "member" },
    });
    const asked = await startAsking(harness, { approvers: { users: ["Ann@Example.test"] } });
    const refused = [person("user-2", "bob@example.test"), harness.identity];
    for (const caller of refused) {
      await expect(decide(harness, asked, {}, caller)).rejects.toMatchObject({
        reason: "FORBIDDEN",
      });
    }
    const ann = person("user-1", "ann@example.TEST");
    expect((await decide(harness, asked, {}, ann)).decidedBy).toBe("user-1");
    // Even after the decision, others do not learn the status.
    await expect(decide(harness, asked, {}, harness.identity)).rejects.toMatchObject({
      reason: "FORBIDDEN",
    });
    await expect(decide(harness, asked, {}, ann)).rejects.toMatchObject({ reason: "CONFLICT" });
  });

  it("of another company, of another run, or of no form is not there", async () => {
    const asked = await startAsking(harness);
    const other = await startAsking(harness);
    for (const attempt of [
      () => decide(harness, asked, {}, testIdentity()),
      () => decide(harness, { runId: other.runId, id: asked.id }),
      () => decide(harness, { runId: asked.runId, id: newId("apr_") }),
      () => decide(harness, { runId: asked.runId, id: "apr_x" }),
      () => decide(harness, { runId: "run_x", id: asked.id }),
      () => approvalsOf(harness, asked.runId, testIdentity()),
      () => approvalsOf(harness, newId("run_")),
      () => approvalsOf(harness, "x"),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ reason: "NOT_FOUND" });
    }
    expect(await approvalsOf(harness, asked.runId)).toMatchObject([
      { status: ApprovalStatus.WAITING },
    ]);
  });

  it("needs the scopes for reading and for deciding", async () => {
    const reader = { ...harness.identity, scopes: ["runs:read"] };
    const runner = { ...harness.identity, scopes: ["workflows:execute"] };
    const nothing = { runId: newId("run_"), id: newId("apr_") };
    await expect(decide(harness, nothing, {}, reader)).rejects.toMatchObject({
      reason: "FORBIDDEN",
    });
    await expect(approvalsOf(harness, nothing.runId, runner)).rejects.toMatchObject({
      reason: "FORBIDDEN",
    });
    await expect(
      harness.approvals.listApprovals({ status: 0, page: undefined }, { identity: runner }),
    ).rejects.toMatchObject({ reason: "FORBIDDEN" });
  });
});
