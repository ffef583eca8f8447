import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const spanRow = z.object({ from: z.date(), before: z.date() });

/** The period of ended runs that is to be compared. */
export type Span = z.output<typeof spanRow>;

/**
 * Begins a comparison, unless another process has begun one just now. It overlaps the previous one, since what
 * ended then may have been committed later.
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
 * Stores that everything that ended before a moment was compared. The next comparison goes on there, or at the
 * overlap before this one's end if that is earlier. Other processes do not begin one meanwhile.
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
