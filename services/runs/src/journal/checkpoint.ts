import type { EndedRun } from "../domain/ended-run.ts";
import type { ExecutionError } from "../domain/execution-error.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import { isTerminal } from "../domain/run-status.ts";
import type { RunStatus, TerminalStatus } from "../domain/run-status.ts";
import type { Lease } from "../task-runtime/port.ts";
import type { Ending } from "./ending.ts";
import type { JournalEntry } from "./journal-entry.ts";
import type { OpenStepsWrite } from "./open-steps.ts";
import { endedEvent, startedEvent } from "./run-events.ts";
import type { UnwrittenResults } from "./unwritten.ts";

/** A moment at which accumulated results are written, and what becomes of the run. */
export interface Checkpoint {
  next: JournalEntry["next"];
  status: RunStatus;
  /** How the execution ends; null while it goes on. */
  ending: Ending | null;
}

/** The run of a checkpoint at the time of the write. */
export interface RunAtCheckpoint {
  facts: RunFacts;
  lease: Lease;
  /** Whether this entry is the first that tells that the run has begun. */
  begins: boolean;
  /** Whether the run has begun, with this entry or before. */
  hasBegun: boolean;
  /** Epoch milliseconds. */
  now: number;
  /** Execution time so far, in milliseconds. */
  activeMs: number;
}

/** The checkpoint of an execution that goes on. */
export const GOES_ON: Checkpoint = { next: "keep", status: "running", ending: null };

/** The checkpoint with which an execution ends. */
export function finalCheckpoint(ending: Ending): Checkpoint {
  return { next: isTerminal(ending.status) ? "done" : "park", status: ending.status, ending };
}

/** The journal entry of a checkpoint. */
export function toJournalEntry(
  { facts, lease, begins, hasBegun, now, activeMs }: RunAtCheckpoint,
  { next, status, ending }: Checkpoint,
  { results, staged, forgotten, dropped, events, chars }: UnwrittenResults,
  open: OpenStepsWrite,
): JournalEntry {
  const startedAt = hasBegun ? facts.startedAt : null;
  const error = ending !== null && "error" in ending ? ending.error : null;
  const wakeAt = ending !== null && "wakeAt" in ending ? ending.wakeAt : null;
  const output = ending?.status === "completed" ? ending.output : null;
  const completedAt = new Date(Math.max(now, facts.startedAt.getTime()));
  const end = isTerminal(status) ? { status, completedAt, error } : null;
  return {
    lease,
    next,
    forMs: wakeAt === null ? null : Math.max(0, wakeAt.getTime() - now),
    run: {
      status,
      startedAt,
      completedAt: end?.completedAt ?? null,
      output,
      error,
      activeMs,
      // A worker that takes the run over charges the time from here on. A short wait is charged only
      // then.
      activeForMs: end !== null || isUncharged(next, ending) ? null : 0,
    },
    results,
    staged,
    ...open,
    forgotten,
    dropped,
    waitsForRuns: facts.waitsForRuns,
    asksApproval: facts.asksApproval,
    ended: end === null ? null : endedRun(facts, end.status, error),
    events: [
      ...(begins ? [startedEvent(facts)] : []),
      ...events,
      ...(end === null ? [] : [endedEvent({ ...facts, startedAt }, end)]),
    ],
    chars: chars + (output?.length ?? 0),
  };
}

/** Whether the run rests without its own timeout going on (D28). */
function isUncharged(next: JournalEntry["next"], ending: Ending | null): boolean {
  const isCharged =
    ending !== null && "countsTowardTimeout" in ending && ending.countsTowardTimeout;
  return next === "park" && !isCharged;
}

function endedRun(facts: RunFacts, status: TerminalStatus, error: ExecutionError | null): EndedRun {
  const { id, workflowId, triggerType, scheduleId, waitingParentRunId, limited } = facts;
  return {
    runId: id,
    workflowId,
    status,
    error,
    triggerType,
    scheduleId,
    waitingParentRunId,
    limited,
  };
}
