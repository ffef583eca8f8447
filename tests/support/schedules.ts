import { expect } from "@jest/globals";
import { z } from "zod";
import { createActive } from "./scenarios.ts";
import type { WholeSystem } from "./whole-system.ts";

/** A moment as answers write it. */
export const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const interval = z.strictObject({
  value: z.int(),
  unit: z.enum(["minutes", "hours", "days", "weeks"]),
});

/** A schedule with the fields of the contract, and no others. */
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

/** A trigger too rare to fire by itself while a test runs. */
export const YEARLY = { type: "schedule", cron: "0 0 1 1 *" };

/** An active workflow with a schedule trigger; returns its id. */
export function createScheduled(
  system: WholeSystem,
  trigger: object = YEARLY,
  changes: object = {},
): Promise<string> {
  return createActive(system, { trigger, ...changes });
}

/** The schedule of a workflow, whose answer has to be 200. */
export async function getSchedule(system: WholeSystem, workflowId: string): Promise<Schedule> {
  const answer = await system.call("GET", `/workflows/${workflowId}/schedule`);
  expect(answer).toMatchObject({ status: 200, error: undefined });
  return scheduleSchema.parse(answer.data);
}

/** `PUT /workflows/{id}/schedule`. */
export function putSchedule(system: WholeSystem, workflowId: string, body: unknown) {
  return system.call("PUT", `/workflows/${workflowId}/schedule`, { body });
}

/** `POST` below a workflow, without a body. */
export function postTo(
  system: WholeSystem,
  workflowId: string,
  what: "activate" | "pause" | "schedule/trigger",
) {
  return system.call("POST", `/workflows/${workflowId}/${what}`);
}

/** The first moment of the next year, when YEARLY fires. */
export function newYear(): string {
  return `${new Date().getUTCFullYear() + 1}-01-01T00:00:00.000Z`;
}
