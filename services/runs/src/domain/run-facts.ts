import type { TriggerType } from "./run-status.ts";
import type { StartFault } from "./start-fault.ts";

/** What does not change while a run is executed. */
export interface RunFacts {
  id: string;
  /** The lease under which it is executed; what is written must name it. */
  epoch: number;
  companyId: string;
  workflowId: string;
  workflowName: string;
  workflowVersion: number;
  triggerType: TriggerType;
  /** The request that caused the run; null when none did. */
  requestId: string | null;
  /** Of the span around what is executed; null when the run's trace is not recorded. */
  traceparent: string | null;
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
  /** The first of the runs that led to this one; null when it is the first itself (D60). */
  rootRunId: string | null;
  /** The connection for steps of its provider that name none themselves; null: there is none. */
  connectionId: string | null;
  /** Why it fails as soon as it is executed; null: it does not. */
  startFault: StartFault | null;
  /** Whether the workflow has a concurrency limit (D15). */
  limited: boolean;
  /** Whether the workflow has approval steps. */
  asksApproval: boolean;
  /** Whether the workflow has steps that wait for other runs. */
  waitsForRuns: boolean;
}

/** On whose behalf another service is called, and what connects the call with the rest of the run. */
export type CallCause = Pick<RunFacts, "companyId" | "requestId" | "traceparent">;
