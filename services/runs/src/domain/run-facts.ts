import type { TriggerType } from "./run-status.ts";

/** What does not change while a run is executed. */
export interface RunFacts {
  id: string;
  companyId: string;
  workflowId: string;
  workflowName: string;
  workflowVersion: number;
  triggerType: TriggerType;
  /** The request that caused the run; null when none did. */
  requestId: string | null;
  createdAt: Date;
  /** When its execution began: now, unless an earlier execution has begun it. */
  startedAt: Date;
  /** Whether an earlier execution has written that it began. */
  started: boolean;
  /** The schedule that started it; null when none did. */
  scheduleId: string | null;
  /** The run that waits for its end; null when none does. */
  waitingParentRunId: string | null;
  /** How many runs are above this one (D17). */
  depth: number;
  /** How many runs led to this one by what they wrote, each starting the next. */
  triggerDepth: number;
  /** Whether the workflow has a concurrency limit (D15). */
  limited: boolean;
  /** Whether the workflow has approval steps. */
  asksApproval: boolean;
  /** Whether the workflow has steps that wait for other runs. */
  waitsForRuns: boolean;
}
