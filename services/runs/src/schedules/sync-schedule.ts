import { newId } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import type { CompiledTrigger } from "@workflow/definition";
import type { DeploymentStatus } from "../store/deployments.ts";
import { deleteSchedule, lockSchedule, putSchedule } from "../store/schedules.ts";
import type { ScheduleRow, WorkflowOf } from "../store/schedules.ts";
import { nextRunAt } from "./schedule-times.ts";

type ScheduleTrigger = Extract<CompiledTrigger, { type: "schedule" }>;

/** A new state of deployment, as far as it concerns the workflow's schedule. */
export interface DeployedTrigger extends WorkflowOf {
  status: DeploymentStatus;
  /** Null when the state came without content. */
  trigger: CompiledTrigger | null;
}

/**
 * Brings a workflow's schedule in line with its newest state of deployment (D23), in the transaction that
 * stores that state:
 * - activation creates it, or enables it as the trigger says;
 * - another revision of an active workflow changes only what differs from the last revision's trigger, so
 * a caller's changes stay as long as the definition does;
 * - pause disables it; archiving or another type of trigger removes it.
 */
export async function syncSchedule(
  transaction: Transaction,
  deployed: DeployedTrigger,
  now: Date,
): Promise<void> {
  const { companyId, workflowId, status, trigger } = deployed;
  const current = await lockSchedule(transaction, { companyId, workflowId });
  if (status === "archived" || (status === "active" && trigger?.type !== "schedule")) {
    if (current !== null) await deleteSchedule(transaction, { companyId, workflowId });
    return;
  }
  if (status === "paused") {
    if (current !== null) await putSchedule(transaction, pause(current, now));
    return;
  }
  if (trigger?.type !== "schedule") return;
  const base = current ?? newSchedule(deployed, trigger, now);
  const next = base.active ? update(base, trigger, now) : activate(base, trigger, now);
  if (next !== current) await putSchedule(transaction, next);
}

function pause(current: ScheduleRow, now: Date): ScheduleRow {
  return { ...current, enabled: false, active: false, nextRunAt: null, updatedAt: now };
}

function activate(current: ScheduleRow, trigger: ScheduleTrigger, now: Date): ScheduleRow {
  const changed = current.triggerTimes !== timesText(trigger);
  return withNextRun(
    {
      ...current,
      ...(changed ? triggerColumns(trigger) : {}),
      active: true,
      enabled: trigger.enabled,
      triggerEnabled: trigger.enabled,
      anchor: now,
      consecutiveFailures: 0,
      lastError: null,
    },
    now,
  );
}

function update(current: ScheduleRow, trigger: ScheduleTrigger, now: Date): ScheduleRow {
  const timesChanged = current.triggerTimes !== timesText(trigger);
  const switched = current.triggerEnabled !== trigger.enabled;
  if (!timesChanged && !switched) return current;
  const forgets = switched && trigger.enabled;
  return withNextRun(
    {
      ...current,
      ...(timesChanged ? { ...triggerColumns(trigger), anchor: now } : {}),
      ...(switched ? { enabled: trigger.enabled, triggerEnabled: trigger.enabled } : {}),
      ...(forgets ? { anchor: now, consecutiveFailures: 0, lastError: null } : {}),
    },
    now,
  );
}

function newSchedule(
  { companyId, workflowId }: WorkflowOf,
  trigger: ScheduleTrigger,
  now: Date,
): ScheduleRow {
  return {
    id: newId("sched_"),
    companyId,
    workflowId,
    ...triggerColumns(trigger),
    enabled: false,
    active: false,
    triggerEnabled: false,
    anchor: now,
    nextRunAt: null,
    lastRunAt: null,
    lastRunId: null,
    runCount: 0,
    consecutiveFailures: 0,
    lastError: null,
    createdAt: now,
    updatedAt: now,
  };
}

function withNextRun(row: ScheduleRow, now: Date): ScheduleRow {
  return { ...row, nextRunAt: nextRunAt(row, now), updatedAt: now };
}

function triggerColumns(trigger: ScheduleTrigger) {
  return {
    cron: trigger.cron ?? null,
    intervalValue: trigger.interval?.value ?? null,
    intervalUnit: trigger.interval?.unit ?? null,
    timezone: trigger.timezone,
    overlap: trigger.overlap,
    catchUp: trigger.catchUp,
    input: trigger.input === undefined ? null : JSON.stringify(trigger.input),
    triggerTimes: timesText(trigger),
  };
}

/** The trigger without `enabled`, so that two triggers can be compared. */
function timesText({ cron, interval, timezone, overlap, catchUp, input }: ScheduleTrigger): string {
  const { value, unit } = interval ?? {};
  return JSON.stringify([cron, value, unit, timezone, overlap, catchUp, input]);
}
