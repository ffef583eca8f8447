import type { Transaction } from "@workflow/db";
import type { EndHook } from "../journal/end-hooks.ts";
import { lockFailureCounts, putFailureCounts } from "../store/schedule-outcomes.ts";

/** A schedule is disabled after so many failed runs in a row (D23). */
const FAILURES_MAX = 10;

/** The outcome of a schedule's firing: null when it went well, or the error. */
export interface FiringOutcome {
  scheduleId: string;
  error: string | null;
}

/** Counts how the runs of schedules ended (D23, D33). A cancelled run counts neither way. */
export const recordScheduleOutcomes: EndHook = {
  concerns: ({ scheduleId, status }) => scheduleId !== null && status !== "cancelled",
  write(transaction, ended) {
    const outcomes = ended.flatMap(({ scheduleId, status, error }): FiringOutcome[] => {
      if (scheduleId === null) return [];
      if (status === "completed") return [{ scheduleId, error: null }];
      return [{ scheduleId, error: error?.message ?? "The run timed out." }];
    });
    return recordOutcomes(transaction, outcomes);
  },
};

/** Counts failures in a row, in the order given, and disables schedules that have too many. */
export async function recordOutcomes(
  transaction: Transaction,
  outcomes: readonly FiringOutcome[],
): Promise<void> {
  const ids = [...new Set(outcomes.map(({ scheduleId }) => scheduleId))];
  const counts = new Map(
    (await lockFailureCounts(transaction, ids)).map((count) => [
      count.id,
      { ...count, disable: false },
    ]),
  );
  const changed = new Set<string>();
  for (const { scheduleId, error } of outcomes) {
    const count = counts.get(scheduleId);
    // The schedule is gone, or it had no failures before.
    if (count === undefined || (error === null && count.lastError === null)) continue;
    changed.add(scheduleId);
    count.consecutiveFailures = error === null ? 0 : count.consecutiveFailures + 1;
    count.disable ||= count.consecutiveFailures >= FAILURES_MAX;
    count.lastError = error !== null && count.disable ? disabledText(error) : error;
  }
  const written = [...counts.values()].filter(({ id }) => changed.has(id));
  if (written.length > 0) await putFailureCounts(transaction, written);
}

function disabledText(error: string): string {
  return `Disabled after ${FAILURES_MAX} consecutive failures. The last one: ${error}`;
}
