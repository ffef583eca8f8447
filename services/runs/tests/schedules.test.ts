import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import type { Identity } from "@workflow/rpc";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import { IntervalUnit } from "@workflow/proto/runs/v1/schedules";
import type { Schedule, UpdateScheduleRequest } from "@workflow/proto/runs/v1/schedules";
import { mapping, startRunsHarness, testIdentity } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

/** A Sunday. The clock stands still, so that every time can be told in advance. */
let now = new Date("2026-03-01T10:20:30.400Z");
const LATER = new Date("2026-03-01T11:22:33.444Z");
const STEPS = [mapping("echo", {})];

let harness: RunsHarness;

beforeAll(async () => {
  harness = await startRunsHarness({ now: () => now });
});
afterAll(() => harness.close());

/** Deploys a workflow with a schedule trigger, or another revision of one. */
function deploy(trigger: object, workflow: { workflowId?: string; revision?: number } = {}) {
  return harness.deploy(STEPS, { trigger: { type: "schedule", ...trigger }, ...workflow });
}

function withdraw(workflowId: string, revision: number, status: "PAUSED" | "ARCHIVED") {
  return harness.deployments.putDeployment(
    { workflowId, revision, status: DeploymentStatus[status], content: undefined },
    { identity: harness.identity },
  );
}

function get(workflowId: string, identity: Identity = harness.identity): Promise<Schedule> {
  return harness.schedules.getSchedule({ workflowId }, { identity });
}

function put(
  workflowId: string,
  change: Partial<Omit<UpdateScheduleRequest, "workflowId">>,
  identity: Identity = harness.identity,
): Promise<Schedule> {
  const request = {
    workflowId,
    cron: undefined,
    interval: undefined,
    timezone: undefined,
    enabled: undefined,
    ...change,
  };
  return harness.schedules.updateSchedule(request, { identity });
}

/** Does something while the clock shows another time. */
async function at<T>(time: Date, act: () => Promise<T>): Promise<T> {
  const before = now;
  now = time;
  try {
    return await act();
  } finally {
    now = before;
  }
}

describe("activation", () => {
  it("makes the schedule that the trigger tells of", async () => {
    const workflowId = await deploy({ cron: "30 9 * * MON-FRI", timezone: "Europe/Berlin" });
    const schedule = await get(workflowId);
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
      createdAt: now,
      updatedAt: now,
    });
  });

  it("counts an interval from itself on", async () => {
    const workflowId = await deploy({ interval: { value: 90, unit: "minutes" } });
    expect(await get(workflowId)).toMatchObject({
      cron: undefined,
      interval: { value: 90, unit: IntervalUnit.MINUTES },
      timezone: "UTC",
      nextRunAt: new Date("2026-03-01T11:50:30.400Z"),
    });
  });

  it("does not enable a schedule whose trigger says so", async () => {
    const workflowId = await deploy({ cron: "* * * * *", enabled: false });
    const schedule = await get(workflowId);
    expect(schedule.enabled).toBe(false);
    expect(schedule.nextRunAt).toBeUndefined();
  });
});

describe("a workflow without a schedule", () => {
  it.each<[string, () => Promise<string> | string]>([
    ["of another trigger", () => harness.deploy(STEPS)],
    ["that is not known", () => newUuid()],
    ["with an id in no form", () => "no-id"],
    [
      "that was archived",
      async () => {
        const workflowId = await deploy({ cron: "* * * * *" });
        await withdraw(workflowId, 2, "ARCHIVED");
        return workflowId;
      },
    ],
  ])("%s is not found by any call", async (_what, make) => {
    const workflowId = await make();
    const { identity } = harness;
    const refused = { reason: "NOT_FOUND", message: "Schedule not found" };
    await expect(get(workflowId)).rejects.toMatchObject(refused);
    await expect(put(workflowId, { enabled: false })).rejects.toMatchObject(refused);
    await expect(
      harness.schedules.triggerSchedule({ workflowId }, { identity }),
    ).rejects.toMatchObject(refused);
  });

  it("is what another company's looks like", async () => {
    const workflowId = await deploy({ cron: "* * * * *" });
    const stranger = testIdentity();
    const refused = { reason: "NOT_FOUND", message: "Schedule not found" };
    await expect(get(workflowId, stranger)).rejects.toMatchObject(refused);
    await expect(put(workflowId, { enabled: false }, stranger)).rejects.toMatchObject(refused);
    await expect(
      harness.schedules.triggerSchedule({ workflowId }, { identity: stranger }),
    ).rejects.toMatchObject(refused);
    expect((await get(workflowId)).enabled).toBe(true);
  });
});

describe("an update", () => {
  it("puts a cron pattern in place of an interval and the other way round", async () => {
    const workflowId = await deploy({ interval: { value: 1, unit: "hours" } });
    const changed = await put(workflowId, { cron: "15 3 * * *" });
    expect(changed).toMatchObject({
      cron: "15 3 * * *",
      interval: undefined,
      nextRunAt: new Date("2026-03-02T03:15:00Z"),
    });
    expect(await get(workflowId)).toEqual(changed);
    const interval = { value: 2, unit: IntervalUnit.WEEKS };
    const back = await at(LATER, () => put(workflowId, { interval }));
    expect(back).toMatchObject({
      cron: undefined,
      interval,
      nextRunAt: new Date("2026-03-15T11:22:33.444Z"),
      updatedAt: LATER,
    });
    expect(await get(workflowId)).toEqual(back);
  });

  it("moves the next firing with the time zone", async () => {
    const workflowId = await deploy({ cron: "0 12 * * *" });
    expect(await put(workflowId, { timezone: "Asia/Kathmandu" })).toMatchObject({
      cron: "0 12 * * *",
      timezone: "Asia/Kathmandu",
      nextRunAt: new Date("2026-03-02T06:15:00Z"),
    });
  });

  it("disables and enables", async () => {
    const workflowId = await deploy({ interval: { value: 10, unit: "minutes" } });
    const disabled = await put(workflowId, { enabled: false });
    expect(disabled.enabled).toBe(false);
    expect(disabled.nextRunAt).toBeUndefined();
    expect((await get(workflowId)).nextRunAt).toBeUndefined();
    expect(await at(LATER, () => put(workflowId, { enabled: true }))).toMatchObject({
      enabled: true,
      nextRunAt: new Date("2026-03-01T11:32:33.444Z"),
    });
  });

  it("leaves everything but its own time as it is when it asks for nothing", async () => {
    const workflowId = await deploy({ interval: { value: 45, unit: "minutes" } });
    const before = await get(workflowId);
    expect(await at(LATER, () => put(workflowId, {}))).toEqual({
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
    const workflowId = await deploy({ cron: "0 0 1 1 *" });
    const before = await get(workflowId);
    await expect(put(workflowId, { ...change, enabled: false })).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: paths.map((path) => ({ path, message: expect.stringMatching(/\w/) })),
    });
    expect(await get(workflowId)).toEqual(before);
  });
});

describe("another revision of an active workflow", () => {
  it("keeps what an update set while its trigger says the same", async () => {
    const trigger = { cron: "0 0 * * *" };
    const workflowId = await deploy(trigger);
    const changed = await put(workflowId, { cron: "30 6 * * *", timezone: "Asia/Tokyo" });
    await at(LATER, () => deploy(trigger, { workflowId, revision: 2 }));
    expect(await get(workflowId)).toEqual(changed);
  });

  it("replaces the times when its trigger says otherwise, and keeps it disabled", async () => {
    const workflowId = await deploy({ cron: "0 0 * * *" });
    await put(workflowId, { timezone: "Asia/Tokyo", enabled: false });
    await deploy({ interval: { value: 3, unit: "days" } }, { workflowId, revision: 2 });
    const schedule = await get(workflowId);
    expect(schedule).toMatchObject({
      cron: undefined,
      interval: { value: 3, unit: IntervalUnit.DAYS },
      timezone: "UTC",
      enabled: false,
    });
    expect(schedule.nextRunAt).toBeUndefined();
  });

  it("enables and disables where its trigger says so", async () => {
    const workflowId = await deploy({ cron: "0 0 * * *" });
    await deploy({ cron: "0 0 * * *", enabled: false }, { workflowId, revision: 2 });
    expect((await get(workflowId)).enabled).toBe(false);
    await deploy({ cron: "0 0 * * *", enabled: true }, { workflowId, revision: 3 });
    expect(await get(workflowId)).toMatchObject({
      enabled: true,
      nextRunAt: new Date("2026-03-02T00:00:00Z"),
    });
  });

  it("of another trigger removes the schedule, and a later one makes a new one", async () => {
    const workflowId = await deploy({ cron: "0 0 * * *" });
    const { id } = await get(workflowId);
    await harness.deploy(STEPS, { workflowId, revision: 2 });
    await expect(get(workflowId)).rejects.toMatchObject({ reason: "NOT_FOUND" });
    await deploy({ cron: "0 0 * * *" }, { workflowId, revision: 3 });
    expect((await get(workflowId)).id).not.toBe(id);
  });

  it("that is not the newest changes nothing", async () => {
    const workflowId = await deploy({ cron: "0 0 * * *" }, { revision: 5 });
    const before = await get(workflowId);
    await deploy({ cron: "1 1 * * *" }, { workflowId, revision: 4 });
    await withdraw(workflowId, 5, "ARCHIVED");
    await withdraw(workflowId, 3, "PAUSED");
    expect(await get(workflowId)).toEqual(before);
  });
});

describe("a pause", () => {
  it("disables, and activation enables again what was there", async () => {
    const trigger = { cron: "0 0 * * *" };
    const workflowId = await deploy(trigger);
    const { id } = await put(workflowId, { cron: "5 5 * * *" });
    await withdraw(workflowId, 2, "PAUSED");
    const paused = await get(workflowId);
    expect(paused).toMatchObject({ id, cron: "5 5 * * *", enabled: false });
    expect(paused.nextRunAt).toBeUndefined();
    await deploy(trigger, { workflowId, revision: 3 });
    expect(await get(workflowId)).toMatchObject({
      id,
      cron: "5 5 * * *",
      enabled: true,
      nextRunAt: new Date("2026-03-02T05:05:00Z"),
    });
  });

  it("takes changes but not enabling", async () => {
    const trigger = { interval: { value: 1, unit: "hours" } };
    const workflowId = await deploy(trigger);
    await withdraw(workflowId, 2, "PAUSED");
    await expect(put(workflowId, { cron: "1 1 * * *", enabled: true })).rejects.toMatchObject({
      reason: "WORKFLOW_NOT_ACTIVE",
      details: { currentStatus: "paused" },
    });
    const changed = await put(workflowId, { cron: "1 1 * * *" });
    expect(changed).toMatchObject({ cron: "1 1 * * *", enabled: false });
    expect(changed.nextRunAt).toBeUndefined();
    await deploy(trigger, { workflowId, revision: 3 });
    expect(await get(workflowId)).toMatchObject({
      cron: "1 1 * * *",
      nextRunAt: new Date("2026-03-02T01:01:00Z"),
    });
  });

  it("followed by a changed trigger goes by that trigger", async () => {
    const workflowId = await deploy({ cron: "0 0 * * *" });
    await put(workflowId, { cron: "5 5 * * *" });
    await withdraw(workflowId, 2, "PAUSED");
    await deploy({ cron: "7 7 * * *" }, { workflowId, revision: 3 });
    expect((await get(workflowId)).cron).toBe("7 7 * * *");
  });
});

describe("callers at the same time", () => {
  it("leave a schedule that agrees with itself", async () => {
    const workflowId = await deploy({ cron: "0 0 * * *" });
    const racing = Array.from({ length: 20 }, async (_, index) => {
      if (index % 5 === 0) return withdraw(workflowId, 100 + index, "PAUSED");
      if (index % 5 === 1)
        return deploy({ cron: "0 0 * * *" }, { workflowId, revision: 100 + index });
      if (index % 5 === 2) return put(workflowId, { cron: `${index} * * * *` });
      if (index % 5 === 3) return put(workflowId, { interval: { value: index, unit: 1 } });
      return put(workflowId, { enabled: index % 2 === 0 }).catch(() => {});
    });
    await Promise.all(racing);
    // The newest of the revisions that raced is an active one.
    const schedule = await get(workflowId);
    expect(schedule.cron === undefined).toBe(schedule.interval !== undefined);
    if (!schedule.enabled) expect(schedule.nextRunAt).toBeUndefined();
    const settled = await put(workflowId, { cron: "0 12 * * *", enabled: true });
    expect(settled.nextRunAt).toEqual(new Date("2026-03-01T12:00:00Z"));
  });

  it("make one schedule of one workflow", async () => {
    const workflowId = newUuid();
    const revisions = Array.from({ length: 20 }, (_, index) => index + 1);
    await Promise.all(
      revisions.map((revision) =>
        deploy({ cron: `${revision} * * * *` }, { workflowId, revision }),
      ),
    );
    expect((await get(workflowId)).cron).toBe("20 * * * *");
  });
});

describe("scopes", () => {
  it.each([
    ["getSchedule", "workflows:read"],
    ["updateSchedule", "workflows:write"],
    ["triggerSchedule", "workflows:execute"],
  ] as const)("%s needs %s", async (method, scope) => {
    const workflowId = await deploy({ cron: "0 0 1 1 *" });
    const { identity } = harness;
    const request = {
      workflowId,
      cron: undefined,
      interval: undefined,
      timezone: undefined,
      enabled: undefined,
    };
    const without = { ...identity, scopes: identity.scopes.filter((each) => each !== scope) };
    await expect(harness.schedules[method](request, { identity: without })).rejects.toMatchObject({
      reason: "FORBIDDEN",
    });
    await harness.schedules[method](request, { identity: { ...identity, scopes: [scope] } });
  });
});
