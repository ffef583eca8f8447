/** Every status of a run, in the contract's words. */
export const RUN_STATUSES = [
  "pending",
  "running",
  "waiting_approval",
  "suspended",
  "completed",
  "failed",
  "cancelled",
  "timeout",
] as const;

/** The status of a run. */
export type RunStatus = (typeof RUN_STATUSES)[number];

export const TERMINAL_STATUSES = ["completed", "failed", "cancelled", "timeout"] as const;

/** A status that no run leaves again. It is written once. */
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

/**
 * The statuses that a run may go to, or stay in, from each status. This is the only place that defines
 * them: every write of a status takes its condition from here.
 */
export const RUN_TRANSITIONS = {
  pending: [
    "pending",
    "running",
    "waiting_approval",
    "suspended",
    "completed",
    "failed",
    "cancelled",
    "timeout",
  ],
  running: [
    "running",
    "waiting_approval",
    "suspended",
    "completed",
    "failed",
    "cancelled",
    "timeout",
  ],
  waiting_approval: [
    "running",
    "waiting_approval",
    "suspended",
    "completed",
    "failed",
    "cancelled",
    "timeout",
  ],
  suspended: [
    "running",
    "waiting_approval",
    "suspended",
    "completed",
    "failed",
    "cancelled",
    "timeout",
  ],
  completed: [],
  failed: [],
  cancelled: [],
  timeout: [],
} as const satisfies Record<RunStatus, readonly RunStatus[]>;

/** Whether a run in this status has ended. */
export function isTerminal(status: RunStatus): status is TerminalStatus {
  return RUN_TRANSITIONS[status].length === 0;
}

/** The statuses of runs that have not ended. */
export const LIVE_STATUSES: readonly RunStatus[] = RUN_STATUSES.filter(
  (status) => !isTerminal(status),
);

/** The statuses from which a run may go to the given one. */
export function statusesBefore(target: RunStatus): RunStatus[] {
  return RUN_STATUSES.filter((status) =>
    (RUN_TRANSITIONS[status] as readonly RunStatus[]).includes(target),
  );
}

/** The origins of runs, in the contract's words; `table` is ours. */
export const TRIGGER_TYPES = ["api", "webhook", "schedule", "manual", "table"] as const;

/** The origin of a run. */
export type TriggerType = (typeof TRIGGER_TYPES)[number];

/** The statuses in which a run may be retried: it ended without success (D27). */
export const RETRYABLE_STATUSES: readonly RunStatus[] = ["failed", "timeout"];

/** The statuses in which a run may be restarted from a chosen step (D27). */
export const RESTARTABLE_STATUSES: readonly RunStatus[] = ["completed", "failed", "timeout"];
