import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { Schedule } from "@workflow/proto/runs/v1/schedules";
import { createTestDatabase, startHttpDouble, waitFor } from "@workflow/testkit";
import { z } from "zod";
import { delay, httpStep, listRequest, mapping, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness, WorkflowContent } from "./support/runs-harness.ts";

const ECHO = [mapping("echo", "{{input}}")];
/** Nothing listens on port 1. */
const FAILING = [httpStep("call", "http://127.0.0.1:1/")];

/** What all schedulers take for the time; it moves when a test says so. */
let now: Date;
let harness: RunsHarness;

beforeEach(async () => {
  now = new Date("2026-03-01T10:20:30Z");
  harness = await startRunsHarness({ now: () => now });
});
afterEach(() => harness.close());

function deploy(
  trigger: object,
  steps: readonly unknown[] = ECHO,
  more: Partial<WorkflowContent> = {},
): Promise<string> {
  return harness.deploy(steps, { trigger: { type: "schedule", ...trigger }, ...more });
}

function withdraw(workflowId: string, revision: number) {
  return harness.deployments.putDeployment(
    { workflowId, revision, status: DeploymentStatus.PAUSED, content: undefined },
    { identity: harness.identity },
  );
}

function get(workflowId: string, from: RunsHarness = harness): Promise<Schedule> {
  return from.schedules.getSchedule({ workflowId }, { identity: from.identity });
}

function trigger(workflowId: string) {
  return harness.schedules.triggerSchedule({ workflowId }, { identity: harness.identity });
}

function put(workflowId: string, change: { cron?: string; enabled?: boolean }): Promise<Schedule> {
  const { cron, enabled } = change;
  return harness.schedules.updateSchedule(
    { workflowId, cron, interval: undefined, timezone: undefined, enabled },
    { identity: harness.identity },
  );
}

async function listRuns(workflowId: string, from: RunsHarness = harness): Promise<Run[]> {
  const request = listRequest({ workflowId, page: { limit: 100, cursor: "" } });
  const { runs } = await from.runs.listRuns(request, { identity: from.identity });
  return runs;
}

/** Moves the clock and waits until the workflow's schedule has moved on behind it. */
async function passTo(time: string, workflowId: string, from = harness): Promise<Schedule> {
  now = new Date(time);
  return waitFor(
    async () => {
      const schedule = await get(workflowId, from);
      const { nextRunAt } = schedule;
      return nextRunAt === undefined || nextRunAt > now ? schedule : null;
    },
    { what: `the schedule to fire at ${time}` },
  );
}

const firedRow = z.object({ scheduled_at: z.string(), schedule_id: z.string() });

/** For which moments a workflow's runs were started, the earliest first. */
async function firings(workflowId: string): Promise<string[]> {
  const rows = await harness.database.any(sql.type(firedRow)`
    select trigger_data ->> 'scheduledAt' as scheduled_at, schedule_id
    from runs.runs where workflow_id = ${workflowId} order by 1
  `);
  return rows.map((row) => row.scheduled_at);
}

describe("a firing", () => {
  it("starts a run with the trigger's input and says so of the schedule", async () => {
    const workflowId = await deploy({ cron: "* * * * *", input: { customer: "Ada" } }, [
      mapping("echo", { name: "{{input.customer}}" }),
    ]);
    const { id } = await get(workflowId);
    const schedule = await passTo("2026-03-01T10:21:00.250Z", workflowId);
    const [run] = await listRuns(workflowId);
    if (run === undefined) throw new Error("no run");
    expect(schedule).toMatchObject({
      nextRunAt: new Date("2026-03-01T10:22:00Z"),
      lastRunAt: new Date("2026-03-01T10:21:00.250Z"),
      lastRunId: run.id,
      runCount: 1,
      consecutiveFailures: 0,
    });
    const ended = await harness.waitForEnd(run.id);
    expect(ended).toMatchObject({
      status: RunStatus.COMPLETED,
      triggerType: TriggerType.SCHEDULE,
      inputJson: '{"customer":"Ada"}',
      outputJson: '{"name":"Ada"}',
    });
    const stored = await harness.database.one(sql.type(z.object({ data: z.unknown() }))`
      select trigger_data as data from runs.runs where id = ${run.id}
    `);
    expect(stored.data).toEqual({ scheduledAt: "2026-03-01T10:21:00.000Z", scheduleId: id });
  });

  it("has an empty object for input when the trigger gives none", async () => {
    const workflowId = await deploy({ cron: "* * * * *" });
    await passTo("2026-03-01T10:21:00Z", workflowId);
    const [run] = await listRuns(workflowId);
    expect((await harness.waitForEnd(run?.id ?? "")).inputJson).toBe("{}");
  });

  it("uses the version that is deployed then", async () => {
    const workflowId = await deploy({ cron: "* * * * *" });
    await deploy({ cron: "* * * * *" }, ECHO, { workflowId, revision: 2, version: 2 });
    await passTo("2026-03-01T10:21:00Z", workflowId);
    expect((await listRuns(workflowId)).map((run) => run.workflowVersion)).toEqual([2]);
  });

  it("comes by the clock itself, not only when somebody looks", async () => {
    const offsetTo = (time: string): number => Date.parse(time) - Date.now();
    let offsetMs = offsetTo("2026-03-01T10:20:01Z");
    const other = await startRunsHarness({ now: () => new Date(Date.now() + offsetMs) });
    try {
      const workflowId = await other.deploy(ECHO, {
        trigger: { type: "schedule", cron: "* * * * *" },
      });
      offsetMs = offsetTo("2026-03-01T10:20:58Z");
      const run = await waitFor(async () => (await listRuns(workflowId, other))[0] ?? null);
      expect(run.triggerType).toBe(TriggerType.SCHEDULE);
    } finally {
      await other.close();
    }
  });

  it("happens once however many schedulers look for it", async () => {
    await harness.startAnother("worker");
    await harness.startAnother("worker");
    const workflowIds: string[] = [];
    const schedules = Array.from({ length: 200 }, (_, index) => index);
    for (const index of schedules) {
      const cron = index % 2 === 0 ? { cron: "* * * * *" } : { cron: "*/1 0-22 * * *" };
      workflowIds.push(await deploy(cron, []));
    }
    for (const time of ["10:21:00", "10:22:00", "10:23:00"]) {
      now = new Date(`2026-03-01T${time}.100Z`);
      const due = await waitFor(
        async () => {
          const { left } = await harness.database.one(sql.type(z.object({ left: z.number() }))`
            select count(*) as left from runs.schedules where next_run_at <= ${now.toISOString()}
          `);
          return left === 0 ? "none" : null;
        },
        { timeoutMs: 60_000, what: "all schedules to move on" },
      );
      expect(due).toBe("none");
    }
    const row = z.object({ workflow_id: z.string(), times: z.array(z.string()) });
    const fired = await harness.database.any(sql.type(row)`
      select workflow_id, array_agg(trigger_data ->> 'scheduledAt' order by id) as times
      from runs.runs group by workflow_id
    `);
    expect(fired.map(({ workflow_id: id }) => id).toSorted()).toEqual(workflowIds.toSorted());
    for (const { times } of fired) {
      expect(times).toEqual([
        "2026-03-01T10:21:00.000Z",
        "2026-03-01T10:22:00.000Z",
        "2026-03-01T10:23:00.000Z",
      ]);
    }
    for (const workflowId of workflowIds.slice(0, 5)) {
      expect(await get(workflowId)).toMatchObject({ runCount: 3 });
    }
  });
});

describe("firings that nothing was there for", () => {
  it("are skipped unless the trigger asks for them", async () => {
    const workflowId = await deploy({ cron: "*/10 * * * *" });
    const schedule = await passTo("2026-03-01T13:05:00Z", workflowId);
    expect(schedule.nextRunAt).toEqual(new Date("2026-03-01T13:10:00Z"));
    expect(schedule.runCount).toBe(0);
    expect(await firings(workflowId)).toEqual([]);
  });

  it("are made up for by one run, for the last of them", async () => {
    const workflowId = await deploy({ cron: "*/10 * * * *", catchUp: "last" });
    const schedule = await passTo("2026-03-01T13:05:00Z", workflowId);
    expect(schedule.nextRunAt).toEqual(new Date("2026-03-01T13:10:00Z"));
    expect(schedule.runCount).toBe(1);
    expect(await firings(workflowId)).toEqual(["2026-03-01T13:00:00.000Z"]);
  });

  it("do not take with them the one that is just due", async () => {
    const workflowId = await deploy({ cron: "* * * * *" });
    await passTo("2026-03-01T13:05:02Z", workflowId);
    expect(await firings(workflowId)).toEqual(["2026-03-01T13:05:00.000Z"]);
  });

  it.each(["none", "last"])("with catchUp %s do not drift over a restart", async (catchUp) => {
    const testDatabase = await createTestDatabase();
    const options = { databaseUrl: testDatabase.connectionUri, now: () => now };
    const before = await startRunsHarness(options);
    const workflowId = await before.deploy([], {
      trigger: { type: "schedule", interval: { value: 7, unit: "minutes" }, catchUp },
    });
    await passTo("2026-03-01T10:27:30Z", workflowId, before);
    await before.close();
    now = new Date("2026-03-01T10:50:00Z");
    const after = await startRunsHarness({ ...options, identity: before.identity });
    try {
      const back = await passTo("2026-03-01T10:50:01Z", workflowId, after);
      expect(back.nextRunAt).toEqual(new Date("2026-03-01T10:55:30Z"));
      expect(back.runCount).toBe(catchUp === "none" ? 1 : 2);
      const next = await passTo("2026-03-01T10:55:33Z", workflowId, after);
      expect(next.nextRunAt).toEqual(new Date("2026-03-01T11:02:30Z"));
      expect(next.runCount).toBe(catchUp === "none" ? 2 : 3);
    } finally {
      await after.close();
      await testDatabase.close();
    }
  });
});

describe("while an earlier run goes on", () => {
  it("a schedule that skips waits for a free moment", async () => {
    const workflowId = await deploy({ cron: "* * * * *", overlap: "skip" }, [delay("d", 600_000)]);
    await passTo("2026-03-01T10:21:00Z", workflowId);
    const skipped = await passTo("2026-03-01T10:22:00Z", workflowId);
    expect(skipped).toMatchObject({ runCount: 1, nextRunAt: new Date("2026-03-01T10:23:00Z") });
    const [run] = await listRuns(workflowId);
    await harness.runs.cancelRun({ runId: run?.id ?? "" }, { identity: harness.identity });
    expect(await passTo("2026-03-01T10:23:00Z", workflowId)).toMatchObject({
      runCount: 2,
      consecutiveFailures: 0,
    });
    expect(await firings(workflowId)).toEqual([
      "2026-03-01T10:21:00.000Z",
      "2026-03-01T10:23:00.000Z",
    ]);
  });

  it("any other fires", async () => {
    const workflowId = await deploy({ cron: "* * * * *" }, [delay("d", 600_000)]);
    await passTo("2026-03-01T10:21:00Z", workflowId);
    expect(await passTo("2026-03-01T10:22:00Z", workflowId)).toMatchObject({ runCount: 2 });
  });

  it("a schedule that skips minds its own runs only", async () => {
    const workflowId = await deploy({ cron: "* * * * *", overlap: "skip" }, [delay("d", 600_000)]);
    await harness.start(workflowId);
    expect(await passTo("2026-03-01T10:21:00Z", workflowId)).toMatchObject({ runCount: 1 });
  });
});

describe("a pause", () => {
  it("comes before or after a firing, never at the same time", async () => {
    const workflowIds: string[] = [];
    for (let index = 0; index < 30; index++) workflowIds.push(await deploy({ cron: "* * * * *" }));
    now = new Date("2026-03-01T10:21:00Z");
    const counts = await Promise.all(
      workflowIds.map(async (workflowId) => {
        await withdraw(workflowId, 2);
        return (await listRuns(workflowId)).length;
      }),
    );
    now = new Date("2026-03-01T10:22:00Z");
    // Another one that fires then shows that the schedulers have looked.
    await passTo("2026-03-01T10:23:00Z", await deploy({ cron: "* * * * *" }));
    for (const [index, workflowId] of workflowIds.entries()) {
      const schedule = await get(workflowId);
      expect(schedule.nextRunAt).toBeUndefined();
      expect(schedule.runCount).toBe(counts[index]);
      expect(await listRuns(workflowId)).toHaveLength(counts[index] ?? -1);
    }
  });
});

describe("an input that does not fit the inputSchema", () => {
  const inputSchema = { type: "object", required: ["n"], properties: { n: { type: "number" } } };

  it("starts no run, is a failure, and does not hold up other schedules", async () => {
    const workflowId = await deploy({ cron: "* * * * *" }, ECHO, { inputSchema });
    const other = await deploy({ cron: "* * * * *" });
    const schedule = await passTo("2026-03-01T10:21:00Z", workflowId);
    expect(schedule).toMatchObject({
      runCount: 0,
      lastRunId: "",
      consecutiveFailures: 1,
      lastError: expect.stringContaining("inputSchema"),
      nextRunAt: new Date("2026-03-01T10:22:00Z"),
    });
    expect(await passTo("2026-03-01T10:21:00Z", other)).toMatchObject({ runCount: 1 });
    expect(await listRuns(workflowId)).toEqual([]);
  });

  it("is an error for who fires by hand", async () => {
    const workflowId = await deploy({ cron: "0 0 1 1 *" }, ECHO, { inputSchema });
    await expect(trigger(workflowId)).rejects.toMatchObject({
      reason: "VALIDATION_ERROR",
      violations: [{ path: expect.anything(), message: expect.anything() }],
    });
    expect(await get(workflowId)).toMatchObject({ runCount: 0, consecutiveFailures: 0 });
  });

  it("disables the schedule at the tenth time", async () => {
    const workflowId = await deploy({ cron: "* * * * *" }, ECHO, { inputSchema });
    await harness.database.query(sql.type(z.object({}))`
      update runs.schedules set consecutive_failures = 8 where workflow_id = ${workflowId}
    `);
    expect(await passTo("2026-03-01T10:21:00Z", workflowId)).toMatchObject({ enabled: true });
    const schedule = await passTo("2026-03-01T10:22:00Z", workflowId);
    expect(schedule).toMatchObject({ enabled: false, consecutiveFailures: 10 });
    expect(schedule.nextRunAt).toBeUndefined();
    expect(schedule.lastError).toMatch(/^Disabled after 10 consecutive failures\. .*inputSchema/);
  });
});

describe("runs that fail", () => {
  /** Fires by hand and waits for the end. */
  async function fire(workflowId: string): Promise<Run> {
    const { run } = await trigger(workflowId);
    return harness.waitForEnd(run?.id ?? "");
  }

  it("are counted until one ends well", async () => {
    const workflowId = await deploy({ cron: "0 0 1 1 *" }, FAILING);
    const failed = await fire(workflowId);
    expect(failed.status).toBe(RunStatus.FAILED);
    await fire(workflowId);
    expect(await get(workflowId)).toMatchObject({
      enabled: true,
      consecutiveFailures: 2,
      lastError: failed.error?.message,
    });
    await deploy({ cron: "0 0 1 1 *" }, ECHO, { workflowId, revision: 2 });
    await fire(workflowId);
    const schedule = await get(workflowId);
    expect(schedule.consecutiveFailures).toBe(0);
    expect(schedule.lastError).toBeUndefined();
  });

  it("disable the schedule when there are ten in a row, and enabling forgets them", async () => {
    const workflowId = await deploy({ cron: "0 0 1 1 *" }, FAILING);
    await Promise.all(Array.from({ length: 9 }, () => fire(workflowId)));
    expect(await get(workflowId)).toMatchObject({ enabled: true, consecutiveFailures: 9 });
    const { error } = await fire(workflowId);
    const disabled = await get(workflowId);
    expect(disabled).toMatchObject({
      enabled: false,
      consecutiveFailures: 10,
      runCount: 10,
      lastError: `Disabled after 10 consecutive failures. The last one: ${error?.message}`,
    });
    expect(disabled.nextRunAt).toBeUndefined();
    const enabled = await put(workflowId, { enabled: true });
    expect(enabled).toMatchObject({
      enabled: true,
      consecutiveFailures: 0,
      nextRunAt: new Date("2027-01-01T00:00:00Z"),
    });
    expect(enabled.lastError).toBeUndefined();
  });

  it("are no failures of the schedule when somebody else has started them", async () => {
    const workflowId = await deploy({ cron: "0 0 1 1 *" }, FAILING);
    await harness.runToEnd(workflowId);
    expect(await get(workflowId)).toMatchObject({ runCount: 0, consecutiveFailures: 0 });
  });

  it("count as such when they ran out of time", async () => {
    const receiver = await startHttpDouble(() => new Promise(() => {}));
    const workflowId = await deploy({ cron: "0 0 1 1 *" }, [httpStep("call", receiver.url)], {
      settings: { timeoutMs: 300 },
    });
    expect((await fire(workflowId)).status).toBe(RunStatus.TIMEOUT);
    await receiver.close();
    expect(await get(workflowId)).toMatchObject({
      consecutiveFailures: 1,
      lastError: expect.stringMatching(/\w/),
    });
  });

  it("do not count when they are cancelled", async () => {
    const workflowId = await deploy({ cron: "0 0 1 1 *" }, [delay("d", 600_000)]);
    const { run } = await trigger(workflowId);
    await harness.runs.cancelRun({ runId: run?.id ?? "" }, { identity: harness.identity });
    expect((await get(workflowId)).consecutiveFailures).toBe(0);
  });
});

describe("firing by hand", () => {
  it("starts a pending run and leaves the next firing where it was", async () => {
    const workflowId = await deploy({ cron: "0 12 * * *", input: { n: 1 } });
    const before = await get(workflowId);
    const { run } = await trigger(workflowId);
    expect(run).toMatchObject({
      id: expect.stringMatching(/^run_/),
      workflowId,
      status: RunStatus.PENDING,
      triggerType: TriggerType.SCHEDULE,
      taskRuntimeRunId: expect.stringMatching(/\w/),
    });
    expect(await get(workflowId)).toEqual({
      ...before,
      lastRunAt: now,
      lastRunId: run?.id,
      runCount: 1,
    });
    expect((await harness.waitForEnd(run?.id ?? "")).inputJson).toBe('{"n":1}');
    expect(await firings(workflowId)).toEqual([now.toISOString()]);
  });

  it("works while the schedule is disabled, but not while the workflow is paused", async () => {
    const workflowId = await deploy({ cron: "0 12 * * *", enabled: false });
    await trigger(workflowId);
    await withdraw(workflowId, 2);
    await expect(trigger(workflowId)).rejects.toMatchObject({
      reason: "WORKFLOW_NOT_ACTIVE",
      details: { currentStatus: "paused" },
    });
    expect((await get(workflowId)).runCount).toBe(1);
  });

  it("counts each of many at the same time", async () => {
    const workflowId = await deploy({ cron: "0 12 * * *" });
    await Promise.all(Array.from({ length: 20 }, () => trigger(workflowId)));
    expect(await get(workflowId)).toMatchObject({ runCount: 20 });
    expect(await listRuns(workflowId)).toHaveLength(20);
  });

  it("is refused for a workflow that is not known", async () => {
    await expect(trigger(newUuid())).rejects.toMatchObject({ reason: "NOT_FOUND" });
  });
});
