import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase, waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  createActive,
  createWorkflow,
  getRun,
  getWorkflow,
  listRuns,
  transform,
  waitForRun,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const interval = z.strictObject({
  value: z.int(),
  unit: z.enum(["minutes", "hours", "days", "weeks"]),
});

/** Schedule, as the contract's table of fields has it. */
const scheduleSchema = z.strictObject({
  id: z.string().regex(/^sched_[0-9a-hjkmnp-tv-z]{26}$/),
  workflowId: z.uuid(),
  triggerScheduleId: z.string().min(1),
  scheduleType: z.enum(["cron", "interval"]),
  cronExpression: z.string().nullable(),
  interval: interval.nullable(),
  timezone: z.string(),
  enabled: z.boolean(),
  nextRunAt: timestamp.nullable(),
  lastRunAt: timestamp.nullable(),
  lastRunId: z.string().nullable(),
  runCount: z.int(),
  consecutiveFailures: z.int(),
  lastError: z.string().nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});
type Schedule = z.output<typeof scheduleSchema>;

let system: WholeSystem;
let database: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  const testDatabase = await createTestDatabase();
  const { connectionUri } = testDatabase;
  system = await startWholeSystem({ databaseUrl: connectionUri });
  database = await openDatabase({ connectionUri, applicationName: "test", maxConnections: 1 });
  close = async () => {
    await database.end();
    await system.stop();
    await testDatabase.close();
  };
});
afterAll(() => close());

/** Rare enough not to fire by itself while a test runs. */
const YEARLY = { type: "schedule", cron: "0 0 1 1 *" };

function scheduled(trigger: object = YEARLY, changes: object = {}): Promise<string> {
  return createActive(system, { trigger, ...changes });
}

async function getSchedule(workflowId: string): Promise<Schedule> {
  const answer = await system.call("GET", `/workflows/${workflowId}/schedule`);
  expect(answer).toMatchObject({ status: 200, error: undefined });
  return scheduleSchema.parse(answer.data);
}

function put(workflowId: string, body: unknown) {
  return system.call("PUT", `/workflows/${workflowId}/schedule`, { body });
}

function post(workflowId: string, what: "activate" | "pause" | "schedule/trigger") {
  return system.call("POST", `/workflows/${workflowId}/${what}`);
}

/** The first moment of the next year, when YEARLY fires. */
function newYear(): string {
  return `${new Date().getUTCFullYear() + 1}-01-01T00:00:00.000Z`;
}

describe("activation", () => {
  it("answers with the schedule, which the contract's fields describe", async () => {
    const { id } = await createWorkflow(system, { trigger: YEARLY });
    const answer = await post(id, "activate");
    const schedule = await getSchedule(id);
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
    expect((await post(id, "activate")).data).toEqual({ id, status: "active" });
  });

  it("counts an interval from itself on", async () => {
    const before = Date.now();
    const id = await scheduled({ type: "schedule", interval: { value: 2, unit: "days" } });
    const after = Date.now();
    const schedule = await getSchedule(id);
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
    const id = await scheduled();
    const made = await getSchedule(id);
    await post(id, "pause");
    expect(await getSchedule(id)).toMatchObject({
      id: made.id,
      enabled: false,
      nextRunAt: null,
    });
    expect(await post(id, "schedule/trigger")).toMatchObject({
      status: 400,
      error: { code: "WORKFLOW_NOT_ACTIVE", details: { currentStatus: "paused" } },
    });
    expect(await put(id, { enabled: true })).toMatchObject({
      status: 400,
      error: { code: "WORKFLOW_NOT_ACTIVE" },
    });
    const answer = await post(id, "activate");
    expect(answer.data).toMatchObject({ schedule: { id: made.id, nextRunAt: newYear() } });
    expect(await getSchedule(id)).toMatchObject({ enabled: true, nextRunAt: newYear() });
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
    const id = await scheduled();
    const { id: scheduleId } = await getSchedule(id);
    const answer = await put(id, { interval: { value: 6, unit: "hours" }, timezone: "Asia/Tokyo" });
    const schedule = await getSchedule(id);
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.data).toEqual({ updated: true, scheduleId, nextRunAt: schedule.nextRunAt });
    expect(schedule).toMatchObject({
      scheduleType: "interval",
      cronExpression: null,
      interval: { value: 6, unit: "hours" },
      timezone: "Asia/Tokyo",
    });
    expect(await getWorkflow(system, id)).toMatchObject({ trigger: YEARLY, version: 1 });

    await put(id, { cron: "30 4 1 1 *" });
    expect(await getSchedule(id)).toMatchObject({
      scheduleType: "cron",
      cronExpression: "30 4 1 1 *",
      interval: null,
      // 04:30 in Tokyo is nine hours earlier in UTC.
      nextRunAt: expect.stringMatching(/-12-31T19:30:00\.000Z$/),
    });
  });

  it("disables, which shows no next firing, and enables", async () => {
    const id = await scheduled();
    expect((await put(id, { enabled: false })).data).toMatchObject({ nextRunAt: null });
    expect(await getSchedule(id)).toMatchObject({ enabled: false, nextRunAt: null });
    expect((await put(id, { enabled: true })).data).toMatchObject({ nextRunAt: newYear() });
    expect(await getSchedule(id)).toMatchObject({ enabled: true, nextRunAt: newYear() });
  });

  it("needs no body and ignores what it does not know", async () => {
    const id = await scheduled();
    const before = await getSchedule(id);
    expect(await put(id, undefined)).toMatchObject({ status: 200 });
    expect(await put(id, { id: "x", runCount: 7, workflowId: "y" })).toMatchObject({ status: 200 });
    expect(await getSchedule(id)).toMatchObject({ ...before, updatedAt: expect.any(String) });
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
    const id = await scheduled();
    const before = await getSchedule(id);
    const answer = await put(id, body);
    expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    expect(answer.error?.details).toEqual(
      paths.map((path) => ({ path, message: expect.stringMatching(/\w/) })),
    );
    expect(await getSchedule(id)).toEqual(before);
  });
});

describe("an update of the workflow", () => {
  it("keeps what was put while its trigger stays, and replaces it when that changes", async () => {
    const id = await scheduled();
    await put(id, { cron: "5 5 1 1 *" });
    const update = (body: object) => system.call("PUT", `/workflows/${id}`, { body });
    expect(await update({ name: "Renamed" })).toMatchObject({ status: 200 });
    expect(await getSchedule(id)).toMatchObject({ cronExpression: "5 5 1 1 *" });
    await update({ trigger: { type: "schedule", cron: "7 7 1 1 *", timezone: "Europe/Berlin" } });
    expect(await getSchedule(id)).toMatchObject({
      cronExpression: "7 7 1 1 *",
      nextRunAt: expect.stringMatching(/-01-01T06:07:00\.000Z$/),
    });
    await update({ trigger: { type: "api" } });
    expect(await system.call("GET", `/workflows/${id}/schedule`)).toMatchObject({ status: 404 });
  });
});

describe("a firing", () => {
  const steps = [
    transform("tell", { at: "{{trigger.scheduledAt}}", by: "{{trigger.scheduleId}}" }),
  ];

  it("by hand starts a run as the schedule would", async () => {
    const id = await scheduled({ ...YEARLY, input: { n: 1 } }, { steps });
    const before = await getSchedule(id);
    const answer = await post(id, "schedule/trigger");
    expect(answer).toMatchObject({ status: 202 });
    const data = z
      .strictObject({
        runId: z.string(),
        status: z.literal("pending"),
        workflowId: z.literal(id),
        triggeredAt: timestamp,
      })
      .parse(answer.data);
    const run = await waitForRun(system, data.runId);
    expect(run).toMatchObject({
      status: "completed",
      triggerType: "schedule",
      input: { n: 1 },
      output: { at: expect.any(String), by: before.id },
      createdAt: data.triggeredAt,
    });
    expect(await getSchedule(id)).toEqual({
      ...before,
      lastRunAt: expect.any(String),
      lastRunId: run.id,
      runCount: 1,
    });
    const byTrigger = await listRuns(system, `/workflows/${id}/runs?triggerType=schedule`);
    expect(byTrigger.items.map((item) => item.id)).toEqual([run.id]);
  });

  it("by hand is refused while the schedule's input does not fit the inputSchema", async () => {
    const inputSchema = { type: "object", properties: { n: { type: "number" } } };
    const id = await scheduled({ ...YEARLY, input: { n: "one" } }, { inputSchema, steps });
    expect(await post(id, "schedule/trigger")).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR", details: [{ path: ["n"] }] },
    });
    expect(await getSchedule(id)).toMatchObject({ runCount: 0 });
  });

  it("by the clock starts one run and plans the next", async () => {
    const id = await scheduled(YEARLY, { steps });
    await database.query(sql.type(z.object({}))`
      update runs.schedules set next_run_at = now() where workflow_id = ${id}
    `);
    const fired = await waitFor(
      async () => {
        const schedule = await getSchedule(id);
        return schedule.lastRunId === null ? null : schedule;
      },
      { what: "the schedule to fire" },
    );
    expect(fired).toMatchObject({ runCount: 1, nextRunAt: newYear() });
    const run = await waitForRun(system, fired.lastRunId ?? "");
    expect(run).toMatchObject({ triggerType: "schedule", input: {}, output: { by: fired.id } });
    expect(await getRun(system, run.id)).toEqual(run);
  });
});

describe("where there is no schedule", () => {
  it.each<[string, () => Promise<string>]>([
    ["of a draft", async () => (await createWorkflow(system, { trigger: YEARLY })).id],
    ["of another trigger", () => createActive(system)],
    [
      "of an archived workflow",
      async () => {
        const id = await scheduled();
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
    expect(await put(id, { enabled: false })).toMatchObject(notFound);
    expect(await post(id, "schedule/trigger")).toMatchObject(notFound);
  });
});
