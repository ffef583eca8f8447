import { sql } from "@workflow/db";

/** How much of a queue one claim takes. */
export interface ClaimSize {
  /** The most rows of all companies together. */
  limit: number;
  /** The most rows of one company. */
  perCompany: number;
  /** The time for which other replicas leave a claimed row alone, in milliseconds. */
  leaseMs: number;
}

/** The queues of this service: tables with `company_id`, `tries` and `next_try_at`, and their keys. */
const KEYS = { revocations: "id", broker_leftovers: "attempt_id" } as const;

/**
 * The parts of a `with` clause that claim the due rows of a queue, the longest due first. The last part is `claimed`:
 * the rows, each with one more try.
 */
export function claimDue(
  queue: keyof typeof KEYS,
  { limit, perCompany, leaseMs }: ClaimSize,
): ReturnType<typeof sql.fragment> {
  const table = sql.identifier(["integrations", queue]);
  const key = sql.identifier([KEYS[queue]]);
  return sql.fragment`
    due as (
      select turn.key
      from (
        select
          job.${key} as key, job.next_try_at,
          row_number() over (partition by job.company_id order by job.next_try_at) as place
        from ${table} as job
        where job.next_try_at <= clock_timestamp()
      ) as turn
      where turn.place <= ${perCompany}::integer
      order by turn.next_try_at
      limit ${limit}::integer
    ),
    locked as (
      select due.key
      from ${table} as job
      join due on due.key = job.${key}
      where job.next_try_at <= clock_timestamp()
      for update of job skip locked
    ),
    claimed as (
      update ${table} as job
      set
        tries = job.tries + 1,
        next_try_at = clock_timestamp() + ${leaseMs}::integer * interval '1 millisecond'
      from locked
      where job.${key} = locked.key
      returning job.*
    )`;
}
