import type { Transaction } from "@workflow/db";
import type { ExecutionError } from "../domain/execution-error.ts";
import type { TerminalStatus, TriggerType } from "../domain/run-status.ts";

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

/**
 * What else becomes true when runs end. Called with every run that a transaction ends, whoever ends
 * it, after the runs' own rows were written and in the same transaction; does without a query when
 * none of the runs concerns it. It must not touch rows of `runs.tasks`: their locks are taken before.
 */
export type EndHook = (transaction: Transaction, ended: readonly EndedRun[]) => Promise<void>;
