import type { NewEvent } from "@workflow/events";
import type { ExecutionError } from "../domain/execution-error.ts";
import type { RunStatus } from "../domain/run-status.ts";
import type { EndedRun } from "./end-hooks.ts";
import type { Lease } from "../task-runtime/port.ts";

/** A failed attempt that was followed by another. */
export interface AttemptRecord {
  attempt: number;
  startedAt: string;
  error: ExecutionError;
}

/** How a step ended. `input` and `output` are JSON text fit for storing. */
export interface StepRecord {
  path: string;
  seq: number;
  stepId: string;
  type: string;
  status: "success" | "error" | "skipped";
  startedAt: Date;
  completedAt: Date;
  input: string | null;
  output: string | null;
  error: ExecutionError | null;
  attempt: number;
  previousAttempts: readonly AttemptRecord[];
}

/** A step that has begun and waits. */
export interface OpenStep {
  path: string;
  seq: number;
  startedAt: Date;
  dueAt: Date | null;
  /** When the current attempt is given up; null when nothing limits it. */
  deadlineAt: Date | null;
  attempt: number;
  attemptGroup: number;
  previousAttempts: readonly AttemptRecord[];
}

/** What becomes of the run's own row; fields left out stay as they are. */
export interface RunChange {
  status: RunStatus;
  /** Null while its execution has not begun. */
  startedAt: Date | null;
  completedAt: Date | null;
  /** JSON text fit for storing. */
  output: string | null;
  error: ExecutionError | null;
  /** Execution time so far in milliseconds, without the stretch since `activeSince`. */
  activeMs: number;
  activeSince: Date | null;
}

/** Everything that one checkpoint of one run writes, in one transaction or not at all. */
export interface JournalEntry {
  lease: Lease;
  next: "keep" | "done" | "park";
  /** Only for `park`; null: until it is woken. */
  wakeAt: Date | null;
  run: RunChange;
  results: readonly StepRecord[];
  opened: readonly OpenStep[];
  /** Paths of stored open steps that have ended. */
  closed: readonly string[];
  /** Paths of containers that begin anew: the stored results inside go before new ones come. */
  forgotten: readonly string[];
  /** Whether the run's workflow has steps that wait for other runs. */
  waitsForRuns: boolean;
  /** Whether the run's workflow has approval steps. */
  asksApproval: boolean;
  /** The run, when this ends it. */
  ended: EndedRun | null;
  events: readonly NewEvent[];
  /** About how many characters of documents it holds. */
  chars: number;
}
