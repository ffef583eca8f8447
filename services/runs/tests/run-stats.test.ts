import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { firstIdAt, newUuid, sql } from "@workflow/db";
import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import type { GetRunStatsRequest, RunFigures } from "@workflow/proto/runs/v1/stats";
import type { Identity } from "@workflow/rpc";
import { z } from "zod";
import { mapping, startRunsHarness, testIdentity } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const HOUR_MS = 3_600_000;
const FROM = new Date("2026-03-01T00:00:00.000Z");

interface StoredRun {
  /** Hours after FROM. */
  hour: number;
  status: string;
  trigger?: string;
  durationMs?: number;
  workflowId?: string;
}

let harness: RunsHarness;
let workflowId: string;
let otherWorkflowId: string;

beforeAll(async () => {
  // Nobody executes what is inserted here.
  harness = await startRunsHarness({ role: "api" });
  workflowId = newUuid();
  otherWorkflowId = newUuid();
  await insert(harness.identity, [
    { hour: 0, status: "completed", durationMs: 100 },
    { hour: 0.99, status: "completed", durationMs: 300 },
    { hour: 1, status: "failed", durationMs: 500, trigger: "schedule" },
    { hour: 1.5, status: "cancelled", durationMs: 90_000 },
    { hour: 3, status: "pending" },
    { hour: 3.5, status: "timeout", durationMs: 700, workflowId: otherWorkflowId },
    // Outside of what is asked for.
    { hour: -0.001, status: "failed", durationMs: 1 },
    { hour: 4, status: "failed", durationMs: 1 },
  ]);
  await insert(testIdentity(), [{ hour: 2, status: "completed", durationMs: 5 }]);
});
afterAll(() => harness.close());

async function insert({ companyId }: Identity, runs: readonly StoredRun[]): Promise<void> {
  for (const [index, run] of runs.entries()) {
    const createdAt = new Date(FROM.getTime() + run.hour * HOUR_MS);
    const endedAt =
      run.durationMs === undefined ? null : new Date(createdAt.getTime() + run.durationMs);
    const id = firstIdAt("run_", createdAt).slice(0, -2) + String(10 + index);
    await harness.database.query(sql.type(z.object({}))`
      insert into runs.runs (
        id, company_id, workflow_id, deployment_id, workflow_version, status, trigger_type, input,
        created_at, started_at, completed_at
      )
      values (
        ${id}, ${companyId}, ${run.workflowId ?? workflowId}, ${newUuid()}, 1, ${run.status},
        ${run.trigger ?? "api"}, '{}', ${createdAt.toISOString()}, ${createdAt.toISOString()},
        ${endedAt?.toISOString() ?? null}
      )
    `);
  }
}

function ask(request: Partial<GetRunStatsRequest> = {}, identity = harness.identity) {
  return harness.stats.getRunStats(
    {
      workflowId: "",
      triggerType: TriggerType.UNSPECIFIED,
      from: FROM,
      to: new Date(FROM.getTime() + 4 * HOUR_MS),
      bucketMs: HOUR_MS,
      ...request,
    },
    { identity },
  );
}

const byStatus = (figures: RunFigures | undefined) =>
  Object.fromEntries((figures?.statuses ?? []).map(({ status, count }) => [status, count]));

describe("figures about runs", () => {
  it("count the company's runs of the time by status, in all and by bucket", async () => {
    const { total, buckets } = await ask();
    expect(total?.count).toBe(6);
    expect(byStatus(total)).toEqual({
      [RunStatus.COMPLETED]: 2,
      [RunStatus.FAILED]: 1,
      [RunStatus.CANCELLED]: 1,
      [RunStatus.PENDING]: 1,
      [RunStatus.TIMEOUT]: 1,
    });
    expect(buckets.map(({ figures }) => figures?.count)).toEqual([2, 2, 0, 2]);
    expect(buckets.map(({ from }) => (from?.getTime() ?? 0) - FROM.getTime())).toEqual(
      [0, 1, 2, 3].map((hour) => hour * HOUR_MS),
    );
    expect(byStatus(buckets[1]?.figures)).toEqual({
      [RunStatus.FAILED]: 1,
      [RunStatus.CANCELLED]: 1,
    });
  });

  it("take rate and durations from those that were executed to their end", async () => {
    const { total, buckets } = await ask();
    expect(total?.successRate).toBe(0.5);
    expect(total?.duration).toMatchObject({ p50Ms: 400, p95Ms: 670, p99Ms: 694 });
    expect(buckets.map(({ figures }) => figures?.successRate)).toEqual([1, 0, undefined, 0]);
    expect(buckets.map(({ figures }) => figures?.duration?.p50Ms)).toEqual([
      200,
      500,
      undefined,
      700,
    ]);
  });

  it("are of one workflow or one trigger when that is asked for", async () => {
    const ofWorkflow = await ask({ workflowId: otherWorkflowId });
    expect(byStatus(ofWorkflow.total)).toEqual({ [RunStatus.TIMEOUT]: 1 });
    const ofTrigger = await ask({ triggerType: TriggerType.SCHEDULE });
    expect(byStatus(ofTrigger.total)).toEqual({ [RunStatus.FAILED]: 1 });
    expect((await ask({ workflowId, triggerType: TriggerType.SCHEDULE })).total?.count).toBe(1);
  });

  it("are none of another company's workflow, of an unknown one and of no id at all", async () => {
    const stranger = testIdentity();
    for (const id of [workflowId, newUuid(), "no-id-at-all"]) {
      const { total, buckets } = await ask({ workflowId: id }, stranger);
      expect(total).toMatchObject({ count: 0, statuses: [] });
      expect(buckets).toHaveLength(4);
    }
  });

  it("count a run from its start on", async () => {
    const deployed = await harness.deploy([mapping("a", 1)]);
    await harness.start(deployed);
    const now = Date.now();
    const from = new Date(now - HOUR_MS);
    const to = new Date(now + HOUR_MS);
    const { total } = await ask({ workflowId: deployed, from, to });
    expect(total?.count).toBe(1);
  });

  it("end with a shorter bucket where the time is no multiple of one", async () => {
    const to = new Date(FROM.getTime() + 2.5 * HOUR_MS);
    const { buckets } = await ask({ to });
    expect(buckets).toHaveLength(3);
    expect(buckets.at(-1)?.to).toEqual(to);
  });

  it.each<[string, Partial<GetRunStatsRequest>, string]>([
    ["no beginning", { from: undefined }, "from"],
    ["a beginning before 1970", { from: new Date(-1) }, "from"],
    ["an end at the beginning", { to: FROM }, "to"],
    ["no bucket size", { bucketMs: 0 }, "bucketMs"],
    ["a negative bucket size", { bucketMs: -HOUR_MS }, "bucketMs"],
    ["501 buckets", { to: new Date(FROM.getTime() + 501 * HOUR_MS) }, "bucketMs"],
    ["an unknown trigger", { triggerType: TriggerType.UNRECOGNIZED }, "triggerType"],
  ])("are refused with %s", async (_what, request, field) => {
    await expect(ask(request)).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: [field] }],
    });
  });

  it("of 500 buckets are told", async () => {
    const { buckets } = await ask({ to: new Date(FROM.getTime() + 500 * HOUR_MS) });
    expect(buckets).toHaveLength(500);
  });
});
