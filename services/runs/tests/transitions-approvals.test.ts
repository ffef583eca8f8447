import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { isAppError } from "@workflow/errors";
import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import type { Approval } from "@workflow/proto/runs/v1/approvals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { waitFor } from "@workflow/testkit";
import { approval, mapping, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";
import { faultsOf, logTransitions, readStory } from "./support/transition-log.ts";

const CLIENTS = 20;
const ROUNDS = 6;

let harness: RunsHarness;

beforeAll(async () => {
  harness = await startRunsHarness();
  await logTransitions(harness.database);
  await harness.startAnother("worker");
});
afterAll(() => harness.close());

const steps = (config: object = {}) => [approval("ask", config), mapping("out", "went on")];

/** Starts a run and waits until it has asked; on a slow machine its approval may be over by then. */
async function startAsking(workflowId: string): Promise<Approval> {
  const runId = await harness.start(workflowId);
  return waitFor(() => findApproval(runId), { intervalMs: 5, what: `${runId} to ask` });
}

async function findApproval(runId: string): Promise<Approval | null> {
  const { identity } = harness;
  const { approvals } = await harness.approvals.listRunApprovals({ runId }, { identity });
  return approvals[0] ?? null;
}

async function readApproval(runId: string): Promise<Approval> {
  const found = await findApproval(runId);
  if (found === null) throw new Error("no approval");
  return found;
}

/** How many of the attempts succeeded; the others were refused with this reason. */
async function countWinners(
  attempts: readonly Promise<unknown>[],
  reasonOfLosers: string,
): Promise<number> {
  const outcomes = await Promise.allSettled(attempts);
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") continue;
    const error: unknown = outcome.reason;
    if (!isAppError(error)) throw error;
    expect(error.reason).toBe(reasonOfLosers);
  }
  return outcomes.filter(({ status }) => status === "fulfilled").length;
}

/** Half of the clients say yes and half say no, within so many milliseconds. */
function decisions({ runId, id }: Approval, count: number, spreadMs: number): Promise<unknown>[] {
  return Array.from({ length: count }, async (_, index) => {
    await sleep(Math.random() * spreadMs);
    const decision = index % 2 === 0 ? ApprovalStatus.APPROVED : ApprovalStatus.REJECTED;
    return harness.approvals.decideApproval(
      { runId, approvalId: id, decision, comment: String(index), dataJson: undefined },
      { identity: harness.identity },
    );
  });
}

function cancels({ runId }: Approval, count: number, spreadMs: number): Promise<unknown>[] {
  return Array.from({ length: count }, async () => {
    await sleep(Math.random() * spreadMs);
    return harness.runs.cancelRun({ runId }, { identity: harness.identity });
  });
}

/** Expects one lawful end, and one that agrees with how the approval ended. */
async function expectAgreement(runId: string, ends: Partial<Record<RunStatus, ApprovalStatus[]>>) {
  const { status } = await harness.waitForEnd(runId);
  expect(faultsOf(await readStory(harness.database, runId))).toEqual([]);
  expect(ends[status]).toContain((await readApproval(runId)).status);
}

const { APPROVED, REJECTED, TIMED_OUT, CANCELLED } = ApprovalStatus;

describe("twenty clients that race for one approval", () => {
  it("decide × decide: one is heard, the others get CONFLICT (D29)", async () => {
    const workflowId = await harness.deploy(steps());
    for (let round = 0; round < ROUNDS; round += 1) {
      const asked = await startAsking(workflowId);
      expect(await countWinners(decisions(asked, CLIENTS, 5), "CONFLICT")).toBe(1);
      await expectAgreement(asked.runId, {
        [RunStatus.COMPLETED]: [APPROVED],
        [RunStatus.FAILED]: [REJECTED],
      });
    }
  });

  it("decide × cancel: a run is cancelled at most once, a decision heard at most once", async () => {
    const workflowId = await harness.deploy(steps());
    for (let round = 0; round < ROUNDS; round += 1) {
      const asked = await startAsking(workflowId);
      const [decided, cancelled] = await Promise.all([
        countWinners(decisions(asked, CLIENTS / 2, 20), "CONFLICT"),
        countWinners(cancels(asked, CLIENTS / 2, 20), "INVALID_STATE"),
      ]);
      expect(decided).toBeLessThanOrEqual(1);
      const { status } = await harness.waitForEnd(asked.runId);
      expect(cancelled).toBe(status === RunStatus.CANCELLED ? 1 : 0);
      // Somebody may be heard before somebody else cancels.
      await expectAgreement(asked.runId, {
        [RunStatus.COMPLETED]: [APPROVED],
        [RunStatus.FAILED]: [REJECTED],
        [RunStatus.CANCELLED]: decided === 1 ? [APPROVED, REJECTED] : [CANCELLED],
      });
    }
  });

  it.each(["fail", "approve", "reject"])(
    "decide × timeout of the approval, onTimeout %s: either, never both",
    async (onTimeout) => {
      const workflowId = await harness.deploy(steps({ timeoutMs: 300, onTimeout }));
      const race = async (): Promise<void> => {
        const asked = await startAsking(workflowId);
        const leftMs = (asked.timeoutAt?.getTime() ?? 0) - Date.now();
        await sleep(Math.max(0, leftMs - 10));
        const decided = await countWinners(decisions(asked, CLIENTS, 25), "CONFLICT");
        const heard = onTimeout === "approve" ? [APPROVED, TIMED_OUT] : [APPROVED];
        await expectAgreement(asked.runId, {
          [RunStatus.COMPLETED]: heard,
          [RunStatus.FAILED]: [REJECTED, TIMED_OUT],
        });
        const { status } = await readApproval(asked.runId);
        expect(decided).toBe(status === TIMED_OUT ? 0 : 1);
      };
      for (let round = 0; round < ROUNDS; round += 1) await race();
    },
  );

  it("cancel × timeout of the approval: one end", async () => {
    const workflowId = await harness.deploy(steps({ timeoutMs: 300 }));
    for (let round = 0; round < ROUNDS; round += 1) {
      const asked = await startAsking(workflowId);
      const leftMs = (asked.timeoutAt?.getTime() ?? 0) - Date.now();
      await sleep(Math.max(0, leftMs - 10));
      const cancelled = await countWinners(cancels(asked, CLIENTS, 40), "INVALID_STATE");
      const { status } = await harness.waitForEnd(asked.runId);
      expect(cancelled).toBe(status === RunStatus.CANCELLED ? 1 : 0);
      await expectAgreement(asked.runId, {
        [RunStatus.FAILED]: [TIMED_OUT],
        [RunStatus.CANCELLED]: [CANCELLED, TIMED_OUT],
      });
    }
  });
});
