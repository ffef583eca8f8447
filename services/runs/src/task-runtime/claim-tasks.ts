import { sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { z } from "zod";

const claimRow = z.object({
  runId: z.string().nullable(),
  companyId: z.string().nullable(),
  fence: z.number(),
  takeovers: z.number(),
  idleMs: z.number(),
  nextDueInMs: z.number().nullable(),
  oldest: z.number(),
  lastCompanyId: z.string().nullable(),
});

/** A task as a claim returns it. */
export interface ClaimedTask {
  runId: string;
  /** Null when an earlier version of the service has stored it. */
  companyId: string | null;
  fence: number;
  takeovers: number;
  /** How long it had been due. */
  idleMs: number;
}

/** What a claim asks for. */
export interface ClaimRequest {
  workerId: string;
  /** The pool whose tasks are claimed. */
  pool: string;
  leaseMs: number;
  limit: number;
  /** The worker's slots by company. */
  taken: ReadonlyMap<string, number>;
  /** Whether the claim may include a task that may kill its worker; at most one is included. */
  suspect: boolean;
  /** Whether only companies without a slot of the worker get one. */
  forGuests: boolean;
  /** Also visits companies after this id, behind the oldest due tasks; null: it does not. */
  companiesAfter: string | null;
}

/** The result of a claim. */
export interface Claim {
  tasks: ClaimedTask[];
  /** Milliseconds until a further task becomes due; null when none will by itself. */
  nextDueInMs: number | null;
  /** Whether so many tasks are due that some companies may have been overlooked. */
  crowded: boolean;
  /** The company after which the next visit goes on; null: from the first one. */
  lastCompanyId: string | null;
}

/** From so many take-overs on a task is executed alone: its workers may have died of it. */
export const SUSPECT_TAKEOVERS = 2;
/** Due tasks that one claim chooses from. As long as fewer are due, it sees them all. */
const OLDEST_MAX = 256;
/** Companies that one claim visits where more are due. */
const COMPANIES_MAX = 100;

const IS_SUSPECT = sql.fragment`
  takeovers + (worker_id is not null and begun)::integer >= ${SUSPECT_TAKEOVERS}
`;

/**
 * Claims due tasks for one lease. Companies take turns: the next task is always the oldest one of the
 * company that has the fewest slots of this worker. So none gets more than half of them while another
 * waits (D57). SKIP LOCKED lets any number of workers claim side by side. A claim of a task whose
 * execution another worker has begun is a take-over.
 */
export async function claimTasks(database: Queryable, claim: ClaimRequest): Promise<Claim> {
  const share = SHARES.find(({ most }) => 2 * most >= claim.limit) ?? LARGEST_SHARE;
  const byCompany =
    claim.companiesAfter === null
      ? null
      : eachCompanyCtes(claim.pool, claim.companiesAfter, share.rows);
  const variant = byCompany === null ? "task_claim" : `task_claim_by_company_${share.most}`;
  const rows = await database.any(sql.prepared(variant, claimRow)`
    with recursive oldest as materialized (
      select run_id, company_id, due_at from runs.tasks
      where pool = ${claim.pool} and due_at <= now() and not (${IS_SUSPECT})
      order by due_at
      limit ${OLDEST_MAX}
    ), ${byCompany ?? ONLY_OLDEST}, ${rankedCte(claim)}, due as (
      select task.run_id, task.due_at
      from ranked
      join runs.tasks as task on task.run_id = ranked.run_id
      where task.due_at <= now() and (ranked.turn = 1 or not ${claim.forGuests})
      order by ranked.turn, ranked.due_at, ranked.run_id
      limit ${claim.limit}
      for update of task skip locked
    ), claimed as (
      update runs.tasks as task
      set due_at = now() + ${claim.leaseMs} * interval '1 millisecond',
        fence = task.fence + 1,
        takeovers = task.takeovers + (task.worker_id is not null and task.begun)::integer,
        worker_id = ${claim.workerId},
        begun = false,
        woken = false
      from due
      where task.run_id = due.run_id
      returning task.run_id, task.company_id, task.fence, task.takeovers,
        extract(epoch from now() - due.due_at)::float8 * 1000 as idle_ms
    )
    select run_id as "runId", company_id as "companyId", fence, takeovers, idle_ms as "idleMs",
      null::float8 as "nextDueInMs", 0 as oldest,
      null::uuid as "lastCompanyId"
    from claimed
    union all
    select null, null, 0, 0, 0,
      (
        select extract(epoch from min(due_at) - now())::float8 * 1000
        from runs.tasks
        where pool = ${claim.pool} and due_at > now() and due_at < 'infinity'
      ),
      (select count(*) from oldest), (select company_id from last_company)
  `);
  return toClaim(rows);
}

/**
 * `ranked (run_id, due_at, turn)`: the candidates with the slots that their companies would have then.
 * The oldest suspect comes before all of them where the claim may include one.
 */
function rankedCte({ taken, suspect, pool }: ClaimRequest): SqlFragment {
  return sql.fragment`
    taken (company_id, slots) as (
      select * from ${sql.unnest([...taken], ["uuid", "int4"])} as taken (company_id, slots)
    ), ranked as (
      select candidate.run_id, candidate.due_at,
        coalesce(taken.slots, 0) + row_number() over (
          partition by candidate.company_id order by candidate.due_at, candidate.run_id
        ) as turn
      from candidate
      left join taken on taken.company_id = candidate.company_id
      union all
      (
        select run_id, due_at, 0 from runs.tasks
        where ${suspect} and pool = ${pool} and takeovers > 0 and due_at <= now() and ${IS_SUSPECT}
        order by due_at
        limit 1
      )
    )`;
}

/** The row without a run describes the claim itself. */
function toClaim(rows: readonly z.infer<typeof claimRow>[]): Claim {
  const summary = rows.find((row) => row.runId === null);
  return {
    tasks: rows.flatMap(({ runId, companyId, fence, takeovers, idleMs }) =>
      runId === null ? [] : [{ runId, companyId, fence, takeovers, idleMs }],
    ),
    nextDueInMs: summary?.nextDueInMs ?? null,
    crowded: summary?.oldest === OLDEST_MAX,
    lastCompanyId: summary?.lastCompanyId ?? null,
  };
}

const ONLY_OLDEST = sql.fragment`
  candidate as (
    select run_id, company_id, due_at from oldest
  ), last_company as (
    select null::uuid as company_id
  )`;

/**
 * How many tasks of each company a claim considers, so that a company entitled to half of the slots finds
 * them.
 */
const SHARES = [
  { most: 8, rows: sql.fragment`limit 8` },
  { most: 32, rows: sql.fragment`limit 32` },
];
const LARGEST_SHARE = { most: 128, rows: sql.fragment`limit 128` };

/**
 * The first due tasks of each company as well, found by jumping along the index. The order by company and
 * a limit that the planner can see lead to that index. It does not depend on the statistics of a queue
 * that has changed since.
 */
function eachCompanyCtes(pool: string, after: string, rows: SqlFragment): SqlFragment {
  return sql.fragment`
    company (company_id, number) as (
      (
        select company_id, 1 from runs.tasks
        where pool = ${pool} and company_id > ${after} and due_at < 'infinity'
        order by company_id
        limit 1
      )
      union all
      select next.company_id, company.number + 1
      from company
      cross join lateral (
        select task.company_id from runs.tasks as task
        where task.pool = ${pool} and task.company_id > company.company_id and task.due_at < 'infinity'
        order by task.company_id
        limit 1
      ) as next
      where company.number < ${COMPANIES_MAX}
    ), candidate as (
      select run_id, company_id, due_at from oldest
      union
      select due.run_id, company.company_id, due.due_at
      from company
      cross join lateral (
        select run_id, due_at from runs.tasks
        where pool = ${pool} and company_id between company.company_id and company.company_id
          and due_at <= now() and due_at < 'infinity' and not (${IS_SUSPECT})
        order by company_id, due_at
        ${rows}
      ) as due
    ), last_company as (
      select company_id from company where number = ${COMPANIES_MAX}
    )`;
}
