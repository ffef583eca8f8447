import { sql } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const countRow = z.object({
  id: z.string(),
  consecutiveFailures: z.number(),
  lastError: z.string().nullable(),
});

/** How many runs of a schedule in a row have failed, and the error of the last one. */
export type FailureCount = z.infer<typeof countRow>;

/** Locks schedules, in the order of their ids, and returns how many runs in a row have failed. */
export async function lockFailureCounts(
  transaction: Transaction,
  ids: readonly string[],
): Promise<readonly FailureCount[]> {
  return transaction.any(sql.type(countRow)`
    select id, consecutive_failures as "consecutiveFailures", last_error as "lastError"
    from runs.schedules
    where id = any(${sql.array([...ids], "text")})
    order by id
    for update
  `);
}

/** Writes how many runs in a row have failed, and disables schedules with too many failures. */
export async function putFailureCounts(
  transaction: Transaction,
  counts: readonly (FailureCount & { disable: boolean })[],
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    update runs.schedules as schedule
    set consecutive_failures = counted.consecutive_failures,
      last_error = counted.last_error,
      enabled = schedule.enabled and not counted.disable,
      next_run_at = case when not counted.disable then schedule.next_run_at end,
      updated_at = case
        when schedule.enabled and counted.disable then now()
        else schedule.updated_at
      end
    from ${sql.unnest(
      counts.map((count) => [count.id, count.consecutiveFailures, count.lastError, count.disable]),
      ["text", "int4", "text", "bool"],
    )} as counted (id, consecutive_failures, last_error, disable)
    where schedule.id = counted.id
  `);
}
