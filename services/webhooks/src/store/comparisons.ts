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

/**
 * Says that everything that ended before a moment was compared. The next comparison goes on there, or the overlap
 * before the end of this one when that is earlier. Others stay away for as long as this one goes on.
 */
export async function advanceComparison(
  queryable: Queryable,
  { before, end, overlapMs }: { before: Date; end: Date; overlapMs: number },
): Promise<void> {
  await queryable.query(sql.type(nothing)`
    update webhooks.comparisons
    set begun_at = now(), compared_until = greatest(
      compared_until,
      least(
        ${before.toISOString()}::timestamptz + ${overlapMs} * interval '1 millisecond',
        ${end.toISOString()}::timestamptz
      )
    )
  `);
}
