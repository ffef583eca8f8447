import { describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { IntervalUnit } from "@workflow/proto/runs/v1/schedules";
import { testIdentity } from "./support/runs-harness.ts";
import { LATER, STEPS, StillSchedules } from "./support/still-schedules.ts";

const runs = new StillSchedules();

describe("activation", () => {
  it("makes the schedule that the trigger tells of", async () => {
    const workflowId = await runs.deploy({ cron: "30 9 * * MON-FRI", timezone: "Europe/Berlin" });
    const schedule = await runs.get(workflowId);
    expect(schedule).toEqual({
      id: expect.stringMatching(/^sched_[0-9a-hjkmnp-tv-z]{26}$/),
      workflowId,
      triggerScheduleId: expect.stringMatching(/^timer_[0-9a-hjkmnp-tv-z]{26}$/),
      cron: "30 9 * * MON-FRI",
      interval: undefined,
      timezone: "Europe/Berlin",
      enabled: true,
      nextRunAt: new Date("2026-03-02T08:30:00Z"),
      lastRunAt: undefined,
      lastRunId: "",
      runCount: 0,
      consecutiveFailures: 0,
      lastError: undefined,
      createdAt: runs.now,
      updatedAt: runs.now,
    });
  });

  it("counts an interval from itself on", async () => {
    const workflowId = await runs.deploy({ interval: { value: 90, unit: "minutes" } });
    expect(await runs.get(workflowId)).toMatchObject({
      cron: undefined,
      interval: { value: 90, unit: IntervalUnit.MINUTES },
      timezone: "UTC",
      nextRunAt: new Date("2026-03-01T11:50:30.400Z"),
    });
  });

  it("does not enable a schedule whose trigger says so", async () => {
    const workflowId = await runs.deploy({ cron: "* * * * *", enabled: false });
    const schedule = await runs.get(workflowId);
    expect(schedule.enabled).toBe(false);
    expect(schedule.nextRunAt).toBeUndefined();
  });
});

describe("a workflow without a schedule", () => {
  it.each<[string, () => Promise<string> | string]>([
    ["of another trigger", () => runs.harness.deploy(STEPS)],
    ["that is not known", () => newUuid()],
    ["with an id in no form", () => "no-id"],
    [
      "that was archived",
      async () => {
        const workflowId = await runs.deploy({ cron: "* * * * *" });
        await runs.withdraw(workflowId, 2, "ARCHIVED");
        return workflowId;
      },
    ],
  ])("%s is not found by any call", async (_what, make) => {
    const workflowId = await make();
    const { identity } = runs.harness;
    const refused = { reason: "NOT_FOUND", message: "Schedule not found" };
    await expect(runs.get(workflowId)).rejects.toMatchObject(refused);
    await expect(runs.put(workflowId, { enabled: false })).rejects.toMatchObject(refused);
    await expect(
      runs.harness.schedules.triggerSchedule({ workflowId }, { identity }),
    ).rejects.toMatchObject(refused);
  });

  it("is what another company's looks like", async () => {
    const workflowId = await runs.deploy({ cron: "* * * * *" });
    const stranger = testIdentity();
    const refused = { reason: "NOT_FOUND", message: "Schedule not found" };
    await expect(runs.get(workflowId, stranger)).rejects.toMatchObject(refused);
    await expect(runs.put(workflowId, { enabled: false }, stranger)).rejects.toMatchObject(refused);
    await expect(
      runs.harness.schedules.triggerSchedule({ workflowId }, { identity: stranger }),
    ).rejects.toMatchObject(refused);
    expect((await runs.get(workflowId)).enabled).toBe(true);
  });
});

describe("an update", () => {
  it("puts a cron pattern in place of an interval and the other way round", async () => {
    const workflowId = await runs.deploy({ interval: { value: 1, unit: "hours" } });
    const changed = await runs.put(workflowId, { cron: "15 3 * * *" });
    expect(changed).toMatchObject({
      cron: "15 3 * * *",
      interval: undefined,
      nextRunAt: new Date("2026-03-02T03:15:00Z"),
    });
    expect(await runs.get(workflowId)).toEqual(changed);
    const interval = { value: 2, unit: IntervalUnit.WEEKS };
    const back = await runs.at(LATER, () => runs.put(workflowId, { interval }));
    expect(back).toMatchObject({
      cron: undefined,
      interval,
      nextRunAt: new Date("2026-03-15T11:22:33.444Z"),
      updatedAt: LATER,
    });
    expect(await runs.get(workflowId)).toEqual(back);
  });

  it("counts an interval from itself on only when it is another one", async () => {
    const interval = { value: 2, unit: IntervalUnit.WEEKS };
    const workflowId = await runs.deploy({ interval: { value: 2, unit: "weeks" } });
    const { nextRunAt } = await runs.get(workflowId);
    expect(await runs.at(LATER, () => runs.put(workflowId, { interval }))).toMatchObject({
      nextRunAt,
      updatedAt: LATER,
    });
    const days = { value: 14, unit: IntervalUnit.DAYS };
    expect(await runs.at(LATER, () => runs.put(workflowId, { interval: days }))).toMatchObject({
      nextRunAt: new Date("2026-03-15T11:22:33.444Z"),
    });
  });

  it("moves the next firing with the time zone", async () => {
    const workflowId = await runs.deploy({ cron: "0 12 * * *" });
    expect(await runs.put(workflowId, { timezone: "Asia/Kathmandu" })).toMatchObject({
      cron: "0 12 * * *",
      timezone: "Asia/Kathmandu",
      nextRunAt: new Date("2026-03-02T06:15:00Z"),
    });
  });

  it("disables and enables", async () => {
    const workflowId = await runs.deploy({ interval: { value: 10, unit: "minutes" } });
    const disabled = await runs.put(workflowId, { enabled: false });
    expect(disabled.enabled).toBe(false);
    expect(disabled.nextRunAt).toBeUndefined();
    expect((await runs.get(workflowId)).nextRunAt).toBeUndefined();
    expect(await runs.at(LATER, () => runs.put(workflowId, { enabled: true }))).toMatchObject({
      enabled: true,
      nextRunAt: new Date("2026-03-01T11:32:33.444Z"),
    });
  });

  it("leaves everything but its own time as it is when it asks for nothing", async () => {
    const workflowId = await runs.deploy({ interval: { value: 45, unit: "minutes" } });
    const before = await runs.get(workflowId);
    expect(await runs.at(LATER, () => runs.put(workflowId, {}))).toEqual({
      ...before,
      nextRunAt: new Date("2026-03-01T11:50:30.400Z"),
      updatedAt: LATER,
    });
  });

  it.each<[object, string[][]]>([
    [{ cron: "61 * * * *" }, [["cron"]]],
    [{ cron: "0 0 30 2 *" }, [["cron"]]],
    [{ cron: "" }, [["cron"]]],
    [{ cron: "* * * * *", interval: { value: 1, unit: 1 } }, [["interval"]]],
    [{ interval: { value: 0, unit: 1 } }, [["interval", "value"]]],
    [{ interval: { value: -5, unit: 2 } }, [["interval", "value"]]],
    [{ interval: { value: 1_000_001, unit: 1 } }, [["interval", "value"]]],
    [{ interval: { value: 1_000_000, unit: 4 } }, [["interval", "value"]]],
    [{ interval: { value: 1, unit: 0 } }, [["interval", "unit"]]],
    [{ timezone: "Mars/Base" }, [["timezone"]]],
    [{ timezone: "+02:00" }, [["timezone"]]],
    [{ timezone: "" }, [["timezone"]]],
    [{ cron: "x", timezone: "y" }, [["cron"], ["timezone"]]],
  ])("is refused whole for %j, naming the fields", async (change, paths) => {
    const workflowId = await runs.deploy({ cron: "0 0 1 1 *" });
    const before = await runs.get(workflowId);
    await expect(runs.put(workflowId, { ...change, enabled: false })).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: paths.map((path) => ({ path, message: expect.stringMatching(/\w/) })),
    });
    expect(await runs.get(workflowId)).toEqual(before);
  });
});

describe("callers at the same time", () => {
  it("leave a schedule that agrees with itself", async () => {
    const workflowId = await runs.deploy({ cron: "0 0 * * *" });
    const racing = Array.from({ length: 20 }, async (_, index) => {
      if (index % 5 === 0) return runs.withdraw(workflowId, 100 + index, "PAUSED");
      if (index % 5 === 1)
        return runs.deploy({ cron: "0 0 * * *" }, { workflowId, revision: 100 + index });
      if (index % 5 === 2) return runs.put(workflowId, { cron: `${index} * * * *` });
      if (index % 5 === 3) return runs.put(workflowId, { interval: { value: index, unit: 1 } });
      return runs.put(workflowId, { enabled: index % 2 === 0 }).catch(() => {});
    });
    await Promise.all(racing);
    // The newest revision of the race is an active one.
    const schedule = await runs.get(workflowId);
    expect(schedule.cron === undefined).toBe(schedule.interval !== undefined);
    if (!schedule.enabled) expect(schedule.nextRunAt).toBeUndefined();
    const settled = await runs.put(workflowId, { cron: "0 12 * * *", enabled: true });
    expect(settled.nextRunAt).toEqual(new Date("2026-03-01T12:00:00Z"));
  });

  it("make one schedule of one workflow", async () => {
    const workflowId = newUuid();
    const revisions = Array.from({ length: 20 }, (_, index) => index + 1);
    await Promise.all(
      revisions.map((revision) =>
        runs.deploy({ cron: `${revision} * * * *` }, { workflowId, revision }),
      ),
    );
    expect((await runs.get(workflowId)).cron).toBe("20 * * * *");
  });
});

describe("scopes", () => {
  it.each([
    ["getSchedule", "workflows:read"],
    ["updateSchedule", "workflows:write"],
    ["triggerSchedule", "workflows:execute"],
  ] as const)("%s needs %s", async (method, scope) => {
    const workflowId = await runs.deploy({ cron: "0 0 1 1 *" });
    const { identity } = runs.harness;
    const request = {
      workflowId,
      cron: undefined,
      interval: undefined,
      timezone: undefined,
      enabled: undefined,
    };
    const without = { ...identity, scopes: identity.scopes.filter((each) => each !== scope) };
    await expect(
      runs.harness.schedules[method](request, { identity: without }),
    ).rejects.toMatchObject({
      reason: "FORBIDDEN",
    });
    await runs.harness.schedules[method](request, { identity: { ...identity, scopes: [scope] } });
  });
});
