import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const spanRow = z.object({ from: z.date(), before: z.date() });

/** Ends of runs that are to be compared. */
export type Span = z.output<typeof spanRow>;

/**
 * Begins a comparison, unless another process has begun one just now. It overlaps the one before, since what
 * ended then may have been committed later.
 *
 * @returns null when it is not its time
 */
export async function beginComparison(
  queryable: Queryable,
  {
    everyMs,
    overlapMs,
    settleMs,
    backMs,
  }: {
    everyMs: number;
    overlapMs: number;
    /** What ended so shortly ago is left to the bus. */
    settleMs: number;
    /** How far back it goes at most. */
    backMs: number;
  },
): Promise<Span | null> {
  return queryable.maybeOne(sql.type(spanRow)`
    update webhooks.comparisons
    set begun_at = now()
    where begun_at <= now() - ${everyMs} * interval '1 millisecond'
    returning
      greatest(
        compared_until - ${overlapMs} * interval '1 millisecond',
        now() - ${backMs} * interval '1 millisecond'
      ) as "from",
      greatest(
        now() - ${settleMs} * interval '1 millisecond',
        compared_until - ${overlapMs} * interval '1 millisecond'
      ) as before
  `);
}

/** Says that everything that ended before a moment was compared. */
export async function endComparison(queryable: Queryable, before: Date): Promise<void> {
  await queryable.query(sql.type(nothing)`
    update webhooks.comparisons
    set compared_until = greatest(compared_until, ${before.toISOString()}::timestamptz)
  `);
}
