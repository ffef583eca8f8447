import { describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import { createTestDatabase, waitFor } from "@workflow/testkit";
import { z } from "zod";
import { delay, mapping, startRunsHarness } from "./support/runs-harness.ts";
import { ECHO, ScheduledRuns } from "./support/scheduled-runs.ts";

const scheduled = new ScheduledRuns();

describe("a firing", () => {
  it("starts a run with the trigger's input and says so of the schedule", async () => {
    const workflowId = await scheduled.deploy({ cron: "* * * * *", input: { customer: "Ada" } }, [
      mapping("echo", { name: "{{input.customer}}" }),
    ]);
    const { id } = await scheduled.get(workflowId);
    const schedule = await scheduled.passTo("2026-03-01T10:21:00.250Z", workflowId);
    const [run] = await scheduled.listRuns(workflowId);
    if (run === undefined) throw new Error("no run");
    expect(schedule).toMatchObject({
      nextRunAt: new Date("2026-03-01T10:22:00Z"),
      lastRunAt: new Date("2026-03-01T10:21:00.250Z"),
      lastRunId: run.id,
      runCount: 1,
      consecutiveFailures: 0,
    });
    const ended = await scheduled.harness.waitForEnd(run.id);
    expect(ended).toMatchObject({
      status: RunStatus.COMPLETED,
      triggerType: TriggerType.SCHEDULE,
      inputJson: '{"customer":"Ada"}',
      outputJson: '{"name":"Ada"}',
    });
    const stored = await scheduled.harness.database.one(sql.type(z.object({ data: z.unknown() }))`
      select trigger_data as data from runs.runs where id = ${run.id}
    `);
    expect(stored.data).toEqual({ scheduledAt: "2026-03-01T10:21:00.000Z", scheduleId: id });
  });

  it("has an empty object for input when the trigger gives none", async () => {
    const workflowId = await scheduled.deploy({ cron: "* * * * *" });
    await scheduled.passTo("2026-03-01T10:21:00Z", workflowId);
    const [run] = await scheduled.listRuns(workflowId);
    expect((await scheduled.harness.waitForEnd(run?.id ?? "")).inputJson).toBe("{}");
  });

  it("uses the version that is deployed then", async () => {
    const workflowId = await scheduled.deploy({ cron: "* * * * *" });
    await scheduled.deploy({ cron: "* * * * *" }, ECHO, { workflowId, revision: 2, version: 2 });
    await scheduled.passTo("2026-03-01T10:21:00Z", workflowId);
    expect((await scheduled.listRuns(workflowId)).map((run) => run.workflowVersion)).toEqual([2]);
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
      const run = await waitFor(
        async () => (await scheduled.listRuns(workflowId, other))[0] ?? null,
      );
      expect(run.triggerType).toBe(TriggerType.SCHEDULE);
    } finally {
      await other.close();
    }
  });

  it("happens once however many schedulers look for it", async () => {
    await scheduled.harness.startAnother("worker");
    await scheduled.harness.startAnother("worker");
    const workflowIds: string[] = [];
    const schedules = Array.from({ length: 200 }, (_, index) => index);
    for (const index of schedules) {
      const cron = index % 2 === 0 ? { cron: "* * * * *" } : { cron: "*/1 0-22 * * *" };
      workflowIds.push(await scheduled.deploy(cron, []));
    }
    for (const time of ["10:21:00", "10:22:00", "10:23:00"]) {
      scheduled.now = new Date(`2026-03-01T${time}.100Z`);
      const due = await waitFor(
        async () => {
          const { left } = await scheduled.harness.database.one(sql.type(
            z.object({ left: z.number() }),
          )`
            select count(*) as left from runs.schedules where next_run_at <= ${scheduled.now.toISOString()}
          `);
          return left === 0 ? "none" : null;
        },
        { timeoutMs: 60_000, what: "all schedules to move on" },
      );
      expect(due).toBe("none");
    }
    const row = z.object({ workflow_id: z.string(), times: z.array(z.string()) });
    const fired = await scheduled.harness.database.any(sql.type(row)`
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
      expect(await scheduled.get(workflowId)).toMatchObject({ runCount: 3 });
    }
  });
});

describe("firings that nothing was there for", () => {
  it("are skipped unless the trigger asks for them", async () => {
    const workflowId = await scheduled.deploy({ cron: "*/10 * * * *" });
    const schedule = await scheduled.passTo("2026-03-01T13:05:00Z", workflowId);
    expect(schedule.nextRunAt).toEqual(new Date("2026-03-01T13:10:00Z"));
    expect(schedule.runCount).toBe(0);
    expect(await scheduled.firings(workflowId)).toEqual([]);
  });

  it("are made up for by one run, for the last of them", async () => {
    const workflowId = await scheduled.deploy({ cron: "*/10 * * * *", catchUp: "last" });
    const schedule = await scheduled.passTo("2026-03-01T13:05:00Z", workflowId);
    expect(schedule.nextRunAt).toEqual(new Date("2026-03-01T13:10:00Z"));
    expect(schedule.runCount).toBe(1);
    expect(await scheduled.firings(workflowId)).toEqual(["2026-03-01T13:00:00.000Z"]);
  });

  it("do not take with them the one that is just due", async () => {
    const workflowId = await scheduled.deploy({ cron: "* * * * *" });
    await scheduled.passTo("2026-03-01T13:05:02Z", workflowId);
    expect(await scheduled.firings(workflowId)).toEqual(["2026-03-01T13:05:00.000Z"]);
  });

  it.each(["none", "last"])("with catchUp %s do not drift over a restart", async (catchUp) => {
    const testDatabase = await createTestDatabase();
    const options = { databaseUrl: testDatabase.connectionUri, now: () => scheduled.now };
    const before = await startRunsHarness(options);
    const workflowId = await before.deploy([], {
      trigger: { type: "schedule", interval: { value: 7, unit: "minutes" }, catchUp },
    });
    await scheduled.passTo("2026-03-01T10:27:30Z", workflowId, before);
    await before.close();
    scheduled.now = new Date("2026-03-01T10:50:00Z");
    const after = await startRunsHarness({ ...options, identity: before.identity });
    try {
      const back = await scheduled.passTo("2026-03-01T10:50:01Z", workflowId, after);
      expect(back.nextRunAt).toEqual(new Date("2026-03-01T10:55:30Z"));
      expect(back.runCount).toBe(catchUp === "none" ? 1 : 2);
      const next = await scheduled.passTo("2026-03-01T10:55:33Z", workflowId, after);
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
    const workflowId = await scheduled.deploy({ cron: "* * * * *", overlap: "skip" }, [
      delay("d", 600_000),
    ]);
    await scheduled.passTo("2026-03-01T10:21:00Z", workflowId);
    const skipped = await scheduled.passTo("2026-03-01T10:22:00Z", workflowId);
    expect(skipped).toMatchObject({ runCount: 1, nextRunAt: new Date("2026-03-01T10:23:00Z") });
    const [run] = await scheduled.listRuns(workflowId);
    await scheduled.harness.runs.cancelRun(
      { runId: run?.id ?? "" },
      { identity: scheduled.harness.identity },
    );
    expect(await scheduled.passTo("2026-03-01T10:23:00Z", workflowId)).toMatchObject({
      runCount: 2,
      consecutiveFailures: 0,
    });
    expect(await scheduled.firings(workflowId)).toEqual([
      "2026-03-01T10:21:00.000Z",
      "2026-03-01T10:23:00.000Z",
    ]);
  });

  it("any other fires", async () => {
    const workflowId = await scheduled.deploy({ cron: "* * * * *" }, [delay("d", 600_000)]);
    await scheduled.passTo("2026-03-01T10:21:00Z", workflowId);
    expect(await scheduled.passTo("2026-03-01T10:22:00Z", workflowId)).toMatchObject({
      runCount: 2,
    });
  });

  it("a schedule that skips minds its own runs only", async () => {
    const workflowId = await scheduled.deploy({ cron: "* * * * *", overlap: "skip" }, [
      delay("d", 600_000),
    ]);
    await scheduled.harness.start(workflowId);
    expect(await scheduled.passTo("2026-03-01T10:21:00Z", workflowId)).toMatchObject({
      runCount: 1,
    });
  });
});

describe("a pause", () => {
  it("comes before or after a firing, never at the same time", async () => {
    const workflowIds: string[] = [];
    for (let index = 0; index < 30; index++)
      workflowIds.push(await scheduled.deploy({ cron: "* * * * *" }));
    scheduled.now = new Date("2026-03-01T10:21:00Z");
    const counts = await Promise.all(
      workflowIds.map(async (workflowId) => {
        await scheduled.withdraw(workflowId, 2);
        return (await scheduled.listRuns(workflowId)).length;
      }),
    );
    scheduled.now = new Date("2026-03-01T10:22:00Z");
    // Another one that fires then shows that the schedulers have looked.
    await scheduled.passTo("2026-03-01T10:23:00Z", await scheduled.deploy({ cron: "* * * * *" }));
    for (const [index, workflowId] of workflowIds.entries()) {
      const schedule = await scheduled.get(workflowId);
      expect(schedule.nextRunAt).toBeUndefined();
      expect(schedule.runCount).toBe(counts[index]);
      expect(await scheduled.listRuns(workflowId)).toHaveLength(counts[index] ?? -1);
    }
  });
});
