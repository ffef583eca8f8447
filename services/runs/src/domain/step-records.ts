import type { ExecutionError } from "./execution-error.ts";
import type { RunStatus } from "./run-status.ts";

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
  /** Whether `dueAt` is the end of a paused connection's wait, and not of another wait. */
  hasTurn: boolean;
  /** When the current attempt times out; null when nothing limits it. */
  deadlineAt: Date | null;
  attempt: number;
  attemptGroup: number;
  previousAttempts: readonly AttemptRecord[];
}

/** A change of the run's own row. Fields that are left out stay as they are. */
export interface RunChange {
  status: RunStatus;
  /** Null while execution has not begun. */
  startedAt: Date | null;
  completedAt: Date | null;
  /** JSON text fit for storing. */
  output: string | null;
  error: ExecutionError | null;
  /** Execution time so far in milliseconds, without the stretch in `activeForMs`. */
  activeMs: number;
  /**
   * How long the current stretch of execution has lasted, in milliseconds; null: the run is not being
   * executed.
   */
  activeForMs: number | null;
}
