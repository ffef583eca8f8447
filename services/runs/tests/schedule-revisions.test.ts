import { describe, expect, it } from "@jest/globals";
import { IntervalUnit } from "@workflow/proto/runs/v1/schedules";
import { LATER, STEPS, StillSchedules } from "./support/still-schedules.ts";

const runs = new StillSchedules();

describe("another revision of an active workflow", () => {
  it("keeps what an update set while its trigger says the same", async () => {
    const trigger = { cron: "0 0 * * *" };
    const workflowId = await runs.deploy(trigger);
    const changed = await runs.put(workflowId, { cron: "30 6 * * *", timezone: "Asia/Tokyo" });
    await runs.at(LATER, () => runs.deploy(trigger, { workflowId, revision: 2 }));
    expect(await runs.get(workflowId)).toEqual(changed);
  });

  it("replaces the times when its trigger says otherwise, and keeps it disabled", async () => {
    const workflowId = await runs.deploy({ cron: "0 0 * * *" });
    await runs.put(workflowId, { timezone: "Asia/Tokyo", enabled: false });
    await runs.deploy({ interval: { value: 3, unit: "days" } }, { workflowId, revision: 2 });
    const schedule = await runs.get(workflowId);
    expect(schedule).toMatchObject({
      cron: undefined,
      interval: { value: 3, unit: IntervalUnit.DAYS },
      timezone: "UTC",
      enabled: false,
    });
    expect(schedule.nextRunAt).toBeUndefined();
  });

  it("enables and disables where its trigger says so", async () => {
    const workflowId = await runs.deploy({ cron: "0 0 * * *" });
    await runs.deploy({ cron: "0 0 * * *", enabled: false }, { workflowId, revision: 2 });
    expect((await runs.get(workflowId)).enabled).toBe(false);
    await runs.deploy({ cron: "0 0 * * *", enabled: true }, { workflowId, revision: 3 });
    expect(await runs.get(workflowId)).toMatchObject({
      enabled: true,
      nextRunAt: new Date("2026-03-02T00:00:00Z"),
    });
  });

  it("of another trigger removes the schedule, and a later one makes a new one", async () => {
    const workflowId = await runs.deploy({ cron: "0 0 * * *" });
    const { id } = await runs.get(workflowId);
    await runs.harness.deploy(STEPS, { workflowId, revision: 2 });
    await expect(runs.get(workflowId)).rejects.toMatchObject({ reason: "NOT_FOUND" });
    await runs.deploy({ cron: "0 0 * * *" }, { workflowId, revision: 3 });
    expect((await runs.get(workflowId)).id).not.toBe(id);
  });

  it("that is not the newest changes nothing", async () => {
    const workflowId = await runs.deploy({ cron: "0 0 * * *" }, { revision: 5 });
    const before = await runs.get(workflowId);
    await runs.deploy({ cron: "1 1 * * *" }, { workflowId, revision: 4 });
    await runs.withdraw(workflowId, 5, "ARCHIVED");
    await runs.withdraw(workflowId, 3, "PAUSED");
    expect(await runs.get(workflowId)).toEqual(before);
  });
});

describe("a pause", () => {
  it("disables, and activation enables again what was there", async () => {
    const trigger = { cron: "0 0 * * *" };
    const workflowId = await runs.deploy(trigger);
    const { id } = await runs.put(workflowId, { cron: "5 5 * * *" });
    await runs.withdraw(workflowId, 2, "PAUSED");
    const paused = await runs.get(workflowId);
    expect(paused).toMatchObject({ id, cron: "5 5 * * *", enabled: false });
    expect(paused.nextRunAt).toBeUndefined();
    await runs.deploy(trigger, { workflowId, revision: 3 });
    expect(await runs.get(workflowId)).toMatchObject({
      id,
      cron: "5 5 * * *",
      enabled: true,
      nextRunAt: new Date("2026-03-02T05:05:00Z"),
    });
  });

  it("takes changes but not enabling", async () => {
    const trigger = { interval: { value: 1, unit: "hours" } };
    const workflowId = await runs.deploy(trigger);
    await runs.withdraw(workflowId, 2, "PAUSED");
    await expect(runs.put(workflowId, { cron: "1 1 * * *", enabled: true })).rejects.toMatchObject({
      reason: "WORKFLOW_NOT_ACTIVE",
      details: { currentStatus: "paused" },
    });
    const changed = await runs.put(workflowId, { cron: "1 1 * * *" });
    expect(changed).toMatchObject({ cron: "1 1 * * *", enabled: false });
    expect(changed.nextRunAt).toBeUndefined();
    await runs.deploy(trigger, { workflowId, revision: 3 });
    expect(await runs.get(workflowId)).toMatchObject({
      cron: "1 1 * * *",
      nextRunAt: new Date("2026-03-02T01:01:00Z"),
    });
  });

  it("followed by a changed trigger goes by that trigger", async () => {
    const workflowId = await runs.deploy({ cron: "0 0 * * *" });
    await runs.put(workflowId, { cron: "5 5 * * *" });
    await runs.withdraw(workflowId, 2, "PAUSED");
    await runs.deploy({ cron: "7 7 * * *" }, { workflowId, revision: 3 });
    expect((await runs.get(workflowId)).cron).toBe("7 7 * * *");
  });
});
