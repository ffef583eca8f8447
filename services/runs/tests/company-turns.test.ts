import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import type { AppError } from "@workflow/errors";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { waitFor } from "@workflow/testkit";
import { mapping, startRequest, startRunsHarness, testIdentity } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const modest = testIdentity(newUuid());

describe("a company whose backlog is full (D57)", () => {
  const MAX = 5;
  let harness: RunsHarness;
  beforeAll(async () => {
    // No worker runs, so every started run stays pending.
    harness = await startRunsHarness({ role: "api", companyBacklogMax: MAX });
  });
  afterAll(() => harness.close());

  it("is told to come again, until runs of it have begun or ended; others are not", async () => {
    const { identity } = harness;
    const workflowId = await harness.deploy([mapping("a", 1)]);
    const otherId = await harness.deploy([mapping("a", 1)], { identity: modest });
    const runIds: string[] = [];
    const startOne = (): Promise<AppError | null> =>
      harness.start(workflowId).then(
        (runId) => {
          runIds.push(runId);
          return null;
        },
        (error: AppError) => error,
      );
    // Runs that are admitted during a count may count twice, until the next count.
    await waitFor(async () => {
      await startOne();
      return runIds.length === MAX;
    });
    const refusal = await startOne();
    if (refusal === null) throw new Error("one more was started");
    expect(refusal).toMatchObject({ reason: "RATE_LIMITED", details: { limit: "backlog" } });
    expect(refusal.retryAfterMs).toBeGreaterThan(0);
    expect(runIds).toHaveLength(MAX);
    const other = await harness.runs.startRun(startRequest(otherId), { identity: modest });
    expect(other.run?.status).toBe(RunStatus.PENDING);
    const { results } = await harness.runs.startRuns(
      { requests: [startRequest(workflowId)] },
      { identity },
    );
    expect(results[0]?.failure).toMatchObject({
      detailsJson: JSON.stringify({ limit: "backlog" }),
    });
    await harness.runs.cancelRun({ runId: runIds[0] ?? "" }, { identity });
    const again = await waitFor(async () => {
      try {
        return await harness.start(workflowId);
      } catch {
        return null;
      }
    });
    expect(runIds).not.toContain(again);
  });

  it("still answers a repeated key with the run that it has started", async () => {
    const identityOf = { identity: testIdentity(newUuid()) };
    const workflowId = await harness.deploy([mapping("a", 1)], identityOf);
    const keyed = { ...startRequest(workflowId), idempotencyKey: "once" };
    const first = await harness.runs.startRun(keyed, identityOf);
    await waitFor(async () => {
      try {
        await harness.runs.startRun(startRequest(workflowId), identityOf);
        return false;
      } catch {
        return true;
      }
    });
    const repeated = await harness.runs.startRun(keyed, identityOf);
    expect(repeated).toMatchObject({ existing: true, run: { id: first.run?.id } });
  });
});
