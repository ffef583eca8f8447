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
  /** Whether `dueAt` is a turn that a paused connection gave, and not the end of another wait. */
  hasTurn: boolean;
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
  /** Execution time so far in milliseconds, without the stretch that `activeForMs` tells of. */
  activeMs: number;
  /** For how long it has been executed without an end to that; null: it is not. */
  activeForMs: number | null;
}
