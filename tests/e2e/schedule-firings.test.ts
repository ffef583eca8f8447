import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { getRun, listRuns, transform, waitForRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import {
  timestamp,
  YEARLY,
  createScheduled,
  getSchedule,
  postTo,
  newYear,
} from "../support/schedules.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system?.stop());

describe("a firing", () => {
  const steps = [
    transform("tell", { at: "{{trigger.scheduledAt}}", by: "{{trigger.scheduleId}}" }),
  ];

  it("by hand starts a run as the schedule would", async () => {
    const id = await createScheduled(system, { ...YEARLY, input: { n: 1 } }, { steps });
    const before = await getSchedule(system, id);
    const answer = await postTo(system, id, "schedule/trigger");
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
    expect(await getSchedule(system, id)).toEqual({
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
    const id = await createScheduled(
      system,
      { ...YEARLY, input: { n: "one" } },
      { inputSchema, steps },
    );
    expect(await postTo(system, id, "schedule/trigger")).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR", details: [{ path: ["n"] }] },
    });
    expect(await getSchedule(system, id)).toMatchObject({ runCount: 0 });
  });

  it("by the clock starts one run and plans the next", async () => {
    const id = await createScheduled(system, YEARLY, { steps });
    await system.database.query(sql.type(z.object({}))`
      update runs.schedules set next_run_at = now() where workflow_id = ${id}
    `);
    const fired = await waitFor(
      async () => {
        const schedule = await getSchedule(system, id);
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
