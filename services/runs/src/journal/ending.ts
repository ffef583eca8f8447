import type { ExecutionError } from "../domain/execution-error.ts";

/** How an execution under one lease ended. */
export type Ending =
  | { status: "completed"; output: string }
  | { status: "failed" | "timeout"; error: ExecutionError }
  /** The concurrency limit gave the run no slot (D15). */
  | { status: "cancelled"; error: ExecutionError }
  | {
      status: "running" | "suspended" | "waiting_approval";
      wakeAt: Date | null;
      /** Whether the wait counts against the run's own timeout (D28). */
      countsTowardTimeout: boolean;
    }
  /** The run queues for a slot and has not begun. */
  | { status: "pending"; wakeAt: null };
