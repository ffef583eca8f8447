import { describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { Schedule } from "@workflow/proto/runs/v1/schedules";
import { startHttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { delay, httpStep } from "./support/runs-harness.ts";
import { ECHO, ScheduledRuns } from "./support/scheduled-runs.ts";

/** Nothing listens on port 1. */
const FAILING = [httpStep("call", "http://127.0.0.1:1/")];

const scheduled = new ScheduledRuns();

/** Enables the schedule of a workflow. */
function enable(workflowId: string): Promise<Schedule> {
  const { schedules, identity } = scheduled.harness;
  return schedules.updateSchedule(
    { workflowId, cron: undefined, interval: undefined, timezone: undefined, enabled: true },
    { identity },
  );
}

describe("an input that does not fit the inputSchema", () => {
  const inputSchema = { type: "object", required: ["n"], properties: { n: { type: "number" } } };

  it("starts no run, is a failure, and does not hold up other schedules", async () => {
    const workflowId = await scheduled.deploy({ cron: "* * * * *" }, ECHO, { inputSchema });
    const other = await scheduled.deploy({ cron: "* * * * *" });
    const schedule = await scheduled.passTo("2026-03-01T10:21:00Z", workflowId);
    expect(schedule).toMatchObject({
      runCount: 0,
      lastRunId: "",
      consecutiveFailures: 1,
      lastError: expect.stringContaining("inputSchema"),
      nextRunAt: new Date("2026-03-01T10:22:00Z"),
    });
    expect(await scheduled.passTo("2026-03-01T10:21:00Z", other)).toMatchObject({ runCount: 1 });
    expect(await scheduled.listRuns(workflowId)).toEqual([]);
  });

  it("is an error for who fires by hand", async () => {
    const workflowId = await scheduled.deploy({ cron: "0 0 1 1 *" }, ECHO, { inputSchema });
    await expect(scheduled.trigger(workflowId)).rejects.toMatchObject({
      reason: "VALIDATION_ERROR",
      violations: [{ path: expect.anything(), message: expect.anything() }],
    });
    expect(await scheduled.get(workflowId)).toMatchObject({ runCount: 0, consecutiveFailures: 0 });
  });

  it("disables the schedule at the tenth time", async () => {
    const workflowId = await scheduled.deploy({ cron: "* * * * *" }, ECHO, { inputSchema });
    await scheduled.harness.database.query(sql.type(z.object({}))`
      update runs.schedules set consecutive_failures = 8 where workflow_id = ${workflowId}
    `);
    expect(await scheduled.passTo("2026-03-01T10:21:00Z", workflowId)).toMatchObject({
      enabled: true,
    });
    const schedule = await scheduled.passTo("2026-03-01T10:22:00Z", workflowId);
    expect(schedule).toMatchObject({ enabled: false, consecutiveFailures: 10 });
    expect(schedule.nextRunAt).toBeUndefined();
    expect(schedule.lastError).toMatch(/^Disabled after 10 consecutive failures\. .*inputSchema/);
  });
});

describe("runs that fail", () => {
  /** Fires by hand and waits for the end. */
  async function fire(workflowId: string): Promise<Run> {
    const { run } = await scheduled.trigger(workflowId);
    return scheduled.harness.waitForEnd(run?.id ?? "");
  }

  it("are counted until one ends well", async () => {
    const workflowId = await scheduled.deploy({ cron: "0 0 1 1 *" }, FAILING);
    const failed = await fire(workflowId);
    expect(failed.status).toBe(RunStatus.FAILED);
    await fire(workflowId);
    expect(await scheduled.get(workflowId)).toMatchObject({
      enabled: true,
      consecutiveFailures: 2,
      lastError: failed.error?.message,
    });
    await scheduled.deploy({ cron: "0 0 1 1 *" }, ECHO, { workflowId, revision: 2 });
    await fire(workflowId);
    const schedule = await scheduled.get(workflowId);
    expect(schedule.consecutiveFailures).toBe(0);
    expect(schedule.lastError).toBeUndefined();
  });

  it("disable the schedule when there are ten in a row, and enabling forgets them", async () => {
    const workflowId = await scheduled.deploy({ cron: "0 0 1 1 *" }, FAILING);
    await Promise.all(Array.from({ length: 9 }, () => fire(workflowId)));
    expect(await scheduled.get(workflowId)).toMatchObject({
      enabled: true,
      consecutiveFailures: 9,
    });
    const { error } = await fire(workflowId);
    const disabled = await scheduled.get(workflowId);
    expect(disabled).toMatchObject({
      enabled: false,
      consecutiveFailures: 10,
      runCount: 10,
      lastError: `Disabled after 10 consecutive failures. The last one: ${error?.message}`,
    });
    expect(disabled.nextRunAt).toBeUndefined();
    const enabled = await enable(workflowId);
    expect(enabled).toMatchObject({
      enabled: true,
      consecutiveFailures: 0,
      nextRunAt: new Date("2027-01-01T00:00:00Z"),
    });
    expect(enabled.lastError).toBeUndefined();
  });

  it("are no failures of the schedule when somebody else has started them", async () => {
    const workflowId = await scheduled.deploy({ cron: "0 0 1 1 *" }, FAILING);
    await scheduled.harness.runToEnd(workflowId);
    expect(await scheduled.get(workflowId)).toMatchObject({ runCount: 0, consecutiveFailures: 0 });
  });

  it("count as such when they ran out of time", async () => {
    const receiver = await startHttpDouble(() => new Promise(() => {}));
    const workflowId = await scheduled.deploy(
      { cron: "0 0 1 1 *" },
      [httpStep("call", receiver.url)],
      {
        settings: { timeoutMs: 300 },
      },
    );
    expect((await fire(workflowId)).status).toBe(RunStatus.TIMEOUT);
    await receiver.close();
    expect(await scheduled.get(workflowId)).toMatchObject({
      consecutiveFailures: 1,
      lastError: expect.stringMatching(/\w/),
    });
  });

  it("do not count when they are cancelled", async () => {
    const workflowId = await scheduled.deploy({ cron: "0 0 1 1 *" }, [delay("d", 600_000)]);
    const { run } = await scheduled.trigger(workflowId);
    await scheduled.harness.runs.cancelRun(
      { runId: run?.id ?? "" },
      { identity: scheduled.harness.identity },
    );
    expect((await scheduled.get(workflowId)).consecutiveFailures).toBe(0);
  });
});

describe("firing by hand", () => {
  it("starts a pending run and leaves the next firing where it was", async () => {
    const workflowId = await scheduled.deploy({ cron: "0 12 * * *", input: { n: 1 } });
    const before = await scheduled.get(workflowId);
    const { run } = await scheduled.trigger(workflowId);
    expect(run).toMatchObject({
      id: expect.stringMatching(/^run_/),
      workflowId,
      status: RunStatus.PENDING,
      triggerType: TriggerType.SCHEDULE,
      taskRuntimeRunId: expect.stringMatching(/\w/),
    });
    expect(await scheduled.get(workflowId)).toEqual({
      ...before,
      lastRunAt: scheduled.now,
      lastRunId: run?.id,
      runCount: 1,
    });
    expect((await scheduled.harness.waitForEnd(run?.id ?? "")).inputJson).toBe('{"n":1}');
    expect(await scheduled.firings(workflowId)).toEqual([scheduled.now.toISOString()]);
  });

  it("works while the schedule is disabled, but not while the workflow is paused", async () => {
    const workflowId = await scheduled.deploy({ cron: "0 12 * * *", enabled: false });
    await scheduled.trigger(workflowId);
    await scheduled.withdraw(workflowId, 2);
    await expect(scheduled.trigger(workflowId)).rejects.toMatchObject({
      reason: "WORKFLOW_NOT_ACTIVE",
      details: { currentStatus: "paused" },
    });
    expect((await scheduled.get(workflowId)).runCount).toBe(1);
  });

  it("counts each of many at the same time", async () => {
    const workflowId = await scheduled.deploy({ cron: "0 12 * * *" });
    await Promise.all(Array.from({ length: 20 }, () => scheduled.trigger(workflowId)));
    expect(await scheduled.get(workflowId)).toMatchObject({ runCount: 20 });
    expect(await scheduled.listRuns(workflowId)).toHaveLength(20);
  });

  it("is refused for a workflow that is not known", async () => {
    await expect(scheduled.trigger(newUuid())).rejects.toMatchObject({ reason: "NOT_FOUND" });
  });
});
