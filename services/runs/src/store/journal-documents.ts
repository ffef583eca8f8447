import { toOutboxRow } from "@workflow/events";
import type { NewEvent } from "@workflow/events";
import type { OpenStep, RunChange, StepRecord } from "../domain/step-records.ts";
import { storableJson } from "../domain/storable-json.ts";

/*
 * The journal's rows as JSON text, by the names of their columns. Documents of a run inside are put in as
 * they are, without being parsed.
 */

/** What the journal writes of a run's own row. */
export interface JournaledRun {
  lease: { readonly runId: string; readonly fence: number };
  /** The number of the last entry in the run's journal; this entry gets the next one. */
  after: number;
  run: RunChange;
}

/** A row of `runs`, with the lease's fence and the entry that it follows. */
export function runDocument({ lease, after, run }: JournaledRun): string {
  return jsonObject({
    id: text(lease.runId),
    status: text(run.status),
    started_at: time(run.startedAt),
    completed_at: time(run.completedAt),
    output: run.output ?? "null",
    error: storableJson(run.error),
    active_ms: String(Math.round(run.activeMs)),
    active_for_ms: String(run.activeForMs === null ? null : Math.round(run.activeForMs)),
    epoch: String(lease.fence),
    after_entry: String(after),
  });
}

/**
 * A row of `outbox`, with its run.
 *
 * @param position the event's place among those of the batch
 */
export function eventDocument(runId: string, event: NewEvent, position: number): string {
  const row = toOutboxRow(event);
  return jsonObject({
    position: String(position),
    run_id: text(runId),
    id: text(row.id),
    type: text(row.type),
    company_id: text(row.companyId),
    payload: row.payload,
  });
}

/** A row of `step_results`. */
export function resultDocument(runId: string, record: StepRecord): string {
  return jsonObject({
    run_id: text(runId),
    path: text(record.path),
    seq: String(record.seq),
    step_id: text(record.stepId),
    type: text(record.type),
    status: text(record.status),
    started_at: time(record.startedAt),
    completed_at: time(record.completedAt),
    input: record.input ?? "null",
    output: record.output ?? "null",
    error: storableJson(record.error),
    attempt: String(record.attempt),
    previous_attempts: attempts(record),
  });
}

/** A row of `open_steps`. */
export function openStepDocument(runId: string, step: OpenStep): string {
  return jsonObject({
    run_id: text(runId),
    path: text(step.path),
    seq: String(step.seq),
    started_at: time(step.startedAt),
    due_at: time(step.dueAt),
    has_turn: String(step.hasTurn),
    deadline_at: time(step.deadlineAt),
    attempt: String(step.attempt),
    attempt_group: String(step.attemptGroup),
    previous_attempts: attempts(step),
  });
}

/** Joins JSON texts to an array without parsing them. */
export function jsonArray(items: readonly string[]): string {
  return `[${items.join(",")}]`;
}

function attempts({ previousAttempts }: Pick<StepRecord, "previousAttempts">): string {
  return previousAttempts.length === 0 ? "null" : storableJson(previousAttempts);
}

function text(value: string): string {
  return JSON.stringify(value);
}

function time(value: Date | null): string {
  return value === null ? "null" : `"${value.toISOString()}"`;
}

/** Joins JSON texts to an object without parsing them. */
function jsonObject(fields: Record<string, string>): string {
  let members = "";
  for (const [name, value] of Object.entries(fields)) {
    members += `${members === "" ? "" : ","}"${name}":${value}`;
  }
  return `{${members}}`;
}
