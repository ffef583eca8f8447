import type { ExecutionError } from "./execution-error.ts";
import type { TerminalStatus, TriggerType } from "./run-status.ts";

/** A run that a transaction ends. */
export interface EndedRun {
  runId: string;
  workflowId: string;
  status: TerminalStatus;
  error: ExecutionError | null;
  triggerType: TriggerType;
  /** The schedule that started the run; null when none did. */
  scheduleId: string | null;
  /** The parent run that waits for this one's end; null when none does. */
  waitingParentRunId: string | null;
  /** Whether a concurrency limit applies to the run (D15). */
  limited: boolean;
}
