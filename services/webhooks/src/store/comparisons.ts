import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const spanRow = z.object({ from: z.date(), before: z.date() });

/** The period of ended runs that is to be compared. */
export type Span = z.output<typeof spanRow>;

/**
 * Begins a comparison, unless another process has just begun one. It overlaps the previous one, because
 * runs that ended then may have been committed later.
 *
 * @returns null when it is too early
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
    /** Runs that ended so recently are left to the bus. */
    settleMs: number;
    /** The earliest beginning, in milliseconds before now. */
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
 * Stores that all runs that ended before a moment were compared. The next comparison begins there, or
 * at this one's end minus the overlap if that is earlier. Other processes begin none meanwhile.
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
