import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createActive, createWorkflow, getWorkflow } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import {
  YEARLY,
  createScheduled,
  getSchedule,
  putSchedule,
  postTo,
  newYear,
} from "../support/schedules.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system?.stop());

describe("activation", () => {
  it("answers with the schedule, which the contract's fields describe", async () => {
    const { id } = await createWorkflow(system, { trigger: YEARLY });
    const answer = await postTo(system, id, "activate");
    const schedule = await getSchedule(system, id);
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.data).toEqual({
      id,
      status: "active",
      schedule: {
        id: schedule.id,
        triggerScheduleId: schedule.triggerScheduleId,
        nextRunAt: newYear(),
      },
    });
    expect(schedule).toMatchObject({
      workflowId: id,
      scheduleType: "cron",
      cronExpression: "0 0 1 1 *",
      interval: null,
      timezone: "UTC",
      enabled: true,
      nextRunAt: newYear(),
      lastRunAt: null,
      lastRunId: null,
      runCount: 0,
      consecutiveFailures: 0,
      lastError: null,
    });
  });

  it("answers without one when the trigger is another", async () => {
    const { id } = await createWorkflow(system);
    expect((await postTo(system, id, "activate")).data).toEqual({ id, status: "active" });
  });

  it("counts an interval from itself on", async () => {
    const before = Date.now();
    const id = await createScheduled(system, {
      type: "schedule",
      interval: { value: 2, unit: "days" },
    });
    const after = Date.now();
    const schedule = await getSchedule(system, id);
    expect(schedule).toMatchObject({
      scheduleType: "interval",
      cronExpression: null,
      interval: { value: 2, unit: "days" },
    });
    const nextRunAt = Date.parse(schedule.nextRunAt ?? "") - 2 * 86_400_000;
    expect(nextRunAt).toBeGreaterThanOrEqual(before);
    expect(nextRunAt).toBeLessThanOrEqual(after);
  });

  it("is undone by a pause and comes back with the same schedule", async () => {
    const id = await createScheduled(system);
    const made = await getSchedule(system, id);
    await postTo(system, id, "pause");
    expect(await getSchedule(system, id)).toMatchObject({
      id: made.id,
      enabled: false,
      nextRunAt: null,
    });
    expect(await postTo(system, id, "schedule/trigger")).toMatchObject({
      status: 400,
      error: { code: "WORKFLOW_NOT_ACTIVE", details: { currentStatus: "paused" } },
    });
    expect(await putSchedule(system, id, { enabled: true })).toMatchObject({
      status: 400,
      error: { code: "WORKFLOW_NOT_ACTIVE" },
    });
    const answer = await postTo(system, id, "activate");
    expect(answer.data).toMatchObject({ schedule: { id: made.id, nextRunAt: newYear() } });
    expect(await getSchedule(system, id)).toMatchObject({ enabled: true, nextRunAt: newYear() });
  });
});

describe("a trigger that cannot be scheduled", () => {
  it.each<[object, string[]]>([
    [{}, ["trigger"]],
    [{ cron: "0 0 1 1 *", interval: { value: 1, unit: "hours" } }, ["trigger"]],
    [{ cron: "0 25 * * *" }, ["trigger", "cron"]],
    [{ cron: "0 0 30 2 *" }, ["trigger", "cron"]],
    [{ cron: "0 0 0 1 1 *" }, ["trigger", "cron"]],
    [{ interval: { value: 0, unit: "hours" } }, ["trigger", "interval", "value"]],
    [{ interval: { value: 1, unit: "months" } }, ["trigger", "interval", "unit"]],
    [{ cron: "* * * * *", timezone: "Nowhere" }, ["trigger", "timezone"]],
  ])("%j is refused where it is written", async (times, path) => {
    const body = { name: "Bad", trigger: { type: "schedule", ...times }, steps: [] };
    expect(await system.call("POST", "/workflows", { body })).toMatchObject({
      status: 400,
      error: {
        code: "VALIDATION_ERROR",
        details: expect.arrayContaining([{ path, message: expect.any(String) }]),
      },
    });
  });
});

describe("PUT /workflows/{id}/schedule", () => {
  it("answers with the next firing and leaves the definition alone", async () => {
    const id = await createScheduled(system);
    const { id: scheduleId } = await getSchedule(system, id);
    const answer = await putSchedule(system, id, {
      interval: { value: 6, unit: "hours" },
      timezone: "Asia/Tokyo",
    });
    const schedule = await getSchedule(system, id);
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.data).toEqual({ updated: true, scheduleId, nextRunAt: schedule.nextRunAt });
    expect(schedule).toMatchObject({
      scheduleType: "interval",
      cronExpression: null,
      interval: { value: 6, unit: "hours" },
      timezone: "Asia/Tokyo",
    });
    expect(await getWorkflow(system, id)).toMatchObject({ trigger: YEARLY, version: 1 });

    await putSchedule(system, id, { cron: "30 4 1 1 *" });
    expect(await getSchedule(system, id)).toMatchObject({
      scheduleType: "cron",
      cronExpression: "30 4 1 1 *",
      interval: null,
      // 04:30 in Tokyo is nine hours earlier in UTC.
      nextRunAt: expect.stringMatching(/-12-31T19:30:00\.000Z$/),
    });
  });

  it("does not put the next firing off when a client repeats the interval that is set", async () => {
    const interval = { value: 2, unit: "days" };
    const id = await createActive(system, { trigger: { type: "schedule", interval } });
    const { nextRunAt } = await getSchedule(system, id);
    for (const body of [{ interval }, { interval, enabled: true, timezone: "UTC" }]) {
      expect((await putSchedule(system, id, body)).data).toMatchObject({ nextRunAt });
    }
    expect(await getSchedule(system, id)).toMatchObject({ interval, nextRunAt });
  });

  it("disables, which shows no next firing, and enables", async () => {
    const id = await createScheduled(system);
    expect((await putSchedule(system, id, { enabled: false })).data).toMatchObject({
      nextRunAt: null,
    });
    expect(await getSchedule(system, id)).toMatchObject({ enabled: false, nextRunAt: null });
    expect((await putSchedule(system, id, { enabled: true })).data).toMatchObject({
      nextRunAt: newYear(),
    });
    expect(await getSchedule(system, id)).toMatchObject({ enabled: true, nextRunAt: newYear() });
  });

  it("needs no body and ignores what it does not know", async () => {
    const id = await createScheduled(system);
    const before = await getSchedule(system, id);
    expect(await putSchedule(system, id, undefined)).toMatchObject({ status: 200 });
    expect(await putSchedule(system, id, { id: "x", runCount: 7, workflowId: "y" })).toMatchObject({
      status: 200,
    });
    expect(await getSchedule(system, id)).toMatchObject({
      ...before,
      updatedAt: expect.any(String),
    });
  });

  it.each<[unknown, string[][]]>([
    [{ cron: 5 }, [["cron"]]],
    [{ cron: null }, [["cron"]]],
    [{ cron: "nonsense" }, [["cron"]]],
    [{ cron: "0 0 31 6 *" }, [["cron"]]],
    [{ interval: null }, [["interval"]]],
    [{ interval: "1h" }, [["interval"]]],
    [
      { interval: {} },
      [
        ["interval", "value"],
        ["interval", "unit"],
      ],
    ],
    [{ interval: { value: 1 } }, [["interval", "unit"]]],
    [{ interval: { value: 1.5, unit: "hours" } }, [["interval", "value"]]],
    [{ interval: { value: 0, unit: "hours" } }, [["interval", "value"]]],
    [{ interval: { value: -1, unit: "hours" } }, [["interval", "value"]]],
    [{ interval: { value: 1e10, unit: "hours" } }, [["interval", "value"]]],
    [{ interval: { value: "1", unit: "hours" } }, [["interval", "value"]]],
    [{ interval: { value: 1, unit: "seconds" } }, [["interval", "unit"]]],
    [{ cron: "* * * * *", interval: { value: 1, unit: "hours" } }, [["interval"]]],
    [{ timezone: "Mars/Base" }, [["timezone"]]],
    [{ timezone: 1 }, [["timezone"]]],
    [{ enabled: "yes" }, [["enabled"]]],
    [{ enabled: null }, [["enabled"]]],
  ])("refuses %j, naming the field, and changes nothing", async (body, paths) => {
    const id = await createScheduled(system);
    const before = await getSchedule(system, id);
    const answer = await putSchedule(system, id, body);
    expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    expect(answer.error?.details).toEqual(
      paths.map((path) => ({ path, message: expect.stringMatching(/\w/) })),
    );
    expect(await getSchedule(system, id)).toEqual(before);
  });
});

describe("an update of the workflow", () => {
  it("keeps what was put while its trigger stays, and replaces it when that changes", async () => {
    const id = await createScheduled(system);
    await putSchedule(system, id, { cron: "5 5 1 1 *" });
    const update = (body: object) => system.call("PUT", `/workflows/${id}`, { body });
    expect(await update({ name: "Renamed" })).toMatchObject({ status: 200 });
    expect(await getSchedule(system, id)).toMatchObject({ cronExpression: "5 5 1 1 *" });
    await update({ trigger: { type: "schedule", cron: "7 7 1 1 *", timezone: "Europe/Berlin" } });
    expect(await getSchedule(system, id)).toMatchObject({
      cronExpression: "7 7 1 1 *",
      nextRunAt: expect.stringMatching(/-01-01T06:07:00\.000Z$/),
    });
    await update({ trigger: { type: "api" } });
    expect(await system.call("GET", `/workflows/${id}/schedule`)).toMatchObject({ status: 404 });
  });
});

describe("where there is no schedule", () => {
  it.each<[string, () => Promise<string>]>([
    ["of a draft", async () => (await createWorkflow(system, { trigger: YEARLY })).id],
    ["of another trigger", () => createActive(system)],
    [
      "of an archived workflow",
      async () => {
        const id = await createScheduled(system);
        await system.call("DELETE", `/workflows/${id}`);
        return id;
      },
    ],
    ["of an unknown workflow", () => Promise.resolve("0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a")],
    ["of an id in no form", () => Promise.resolve("nonsense")],
  ])("%s all three routes answer 404", async (_what, make) => {
    const id = await make();
    const notFound = { status: 404, error: { code: "NOT_FOUND" } };
    expect(await system.call("GET", `/workflows/${id}/schedule`)).toMatchObject(notFound);
    expect(await putSchedule(system, id, { enabled: false })).toMatchObject(notFound);
    expect(await postTo(system, id, "schedule/trigger")).toMatchObject(notFound);
  });
});
