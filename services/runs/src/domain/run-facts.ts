import type { TriggerType } from "./run-status.ts";
import type { StartFault } from "./start-fault.ts";

/** The facts of a run that stay the same during its execution. */
export interface RunFacts {
  id: string;
  /** The lease under which the run is executed. Each write must name it. */
  epoch: number;
  companyId: string;
  workflowId: string;
  workflowName: string;
  workflowVersion: number;
  triggerType: TriggerType;
  /** The request that caused the run; null when none did. */
  requestId: string | null;
  /** The span around the execution; null when the run's trace is not recorded. */
  traceparent: string | null;
  createdAt: Date;
  /** When execution began: now, unless an earlier execution has begun it. */
  startedAt: Date;
  /** Whether an earlier execution has written that the run began. */
  started: boolean;
  /** The schedule that started the run; null when none did. */
  scheduleId: string | null;
  /** The parent run that waits for this one's end; null when none does. */
  waitingParentRunId: string | null;
  /** How many runs are above this one (D17). */
  depth: number;
  /** The length of the chain of runs that started one another by their writes, down to this one. */
  triggerDepth: number;
  /** The first run of that row; null when this run is the first (D60). */
  rootRunId: string | null;
  /** The connection for steps that name none, if it is of their provider; null: there is none. */
  connectionId: string | null;
  /** The reason why the run fails as soon as it is executed; null: there is none. */
  startFault: StartFault | null;
  /** Whether the workflow has a concurrency limit (D15). */
  limited: boolean;
  /** Whether the workflow has approval steps. */
  asksApproval: boolean;
  /** Whether the workflow has steps that wait for other runs. */
  waitsForRuns: boolean;
}

/** The company for which another service is called, and the ids that connect the call with the run. */
export type CallCause = Pick<RunFacts, "companyId" | "requestId" | "traceparent">;
