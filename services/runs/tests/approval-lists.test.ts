import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import type { Approval } from "@workflow/proto/runs/v1/approvals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { waitFor } from "@workflow/testkit";
import { approval, parallel, startRunsHarness, testIdentity } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";
import { approvalsOf, decide } from "./support/asked-approvals.ts";

let harness: RunsHarness;

beforeAll(async () => {
  harness = await startRunsHarness();
});
afterAll(() => harness.close());

describe("a run with several approvals", () => {
  it("lists them in the order in which they were asked for, and waits for each", async () => {
    const workflowId = await harness.deploy([
      parallel("par", { left: [approval("l")], right: [approval("r")] }),
      approval("last"),
    ]);
    const runId = await harness.start(workflowId);
    await waitFor(async () => (await approvalsOf(harness, runId)).length === 2);
    for (const each of await approvalsOf(harness, runId)) await decide(harness, each);
    const asked = await waitFor(async () => {
      const all = await approvalsOf(harness, runId);
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
    if (asked[2] !== undefined) await decide(harness, asked[2]);
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
    if (newest !== undefined) await decide(harness, newest, {}, company);

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
