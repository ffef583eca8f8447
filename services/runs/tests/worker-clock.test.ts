import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { z } from "zod";
import { approval, delay, mapping, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const HonestDate = Date;

let harness: RunsHarness;
beforeAll(async () => {
  harness = await startRunsHarness();
});
afterEach(() => {
  globalThis.Date = HonestDate;
});
afterAll(() => harness.close());

/** Sets the clock of this process, and so of its worker, that much ahead of the database's. */
function setClockAhead(aheadMs: number): void {
  class OffDate extends HonestDate {
    constructor(...args: [] | [number | string | Date]) {
      if (args.length === 0) super(HonestDate.now() + aheadMs);
      else super(args[0]);
    }

    static override now(): number {
      return HonestDate.now() + aheadMs;
    }
  }
  Reflect.set(globalThis, "Date", OffDate);
}

/** How many leases a run has had. */
async function leasesOf(runId: string): Promise<number> {
  const row = await harness.database.one(sql.type(z.object({ epoch: z.number() }))`
    select epoch from runs.runs where id = ${runId}
  `);
  return row.epoch;
}

describe("a worker whose clock is a minute off", () => {
  it.each([-60_000, 60_000])("ends a delay when it is over (%s ms)", async (aheadMs) => {
    const workflowId = await harness.deploy([delay("pause", 400), mapping("end", true)]);
    setClockAhead(aheadMs);
    const startedAt = performance.now();
    const run = await harness.runToEnd(workflowId);
    const tookMs = performance.now() - startedAt;
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(tookMs).toBeGreaterThanOrEqual(400);
    // Nor is it handed to a worker again and again meanwhile.
    expect(await leasesOf(run.id)).toBeLessThanOrEqual(3);
  });

  it.each([-60_000, 60_000])("gives people the time that a step says (%s ms)", async (aheadMs) => {
    const workflowId = await harness.deploy([approval("ask", { timeoutMs: 30_000 })]);
    setClockAhead(aheadMs);
    const runId = await harness.start(workflowId);
    await harness.waitForRun(workflowId, RunStatus.WAITING_APPROVAL);
    const { identity } = harness;
    const { approvals } = await harness.approvals.listRunApprovals({ runId }, { identity });
    const [asked] = approvals;
    await harness.approvals.decideApproval(
      {
        runId,
        approvalId: asked?.id ?? "",
        decision: ApprovalStatus.APPROVED,
        comment: undefined,
        dataJson: undefined,
      },
      { identity },
    );
    expect((await harness.waitForEnd(runId)).status).toBe(RunStatus.COMPLETED);
  });
});
