import type { ExecutionError } from "./execution-error.ts";
import type { TerminalStatus, TriggerType } from "./run-status.ts";

/** A run that a transaction ends. */
export interface EndedRun {
  runId: string;
  workflowId: string;
  status: TerminalStatus;
  error: ExecutionError | null;
  triggerType: TriggerType;
  /** The schedule that started it; null when none did. */
  scheduleId: string | null;
  /** The run that waits for its end; null when none does. */
  waitingParentRunId: string | null;
  /** Whether it takes part in a concurrency limit (D15). */
  limited: boolean;
}
