import { sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { z } from "zod";

const admissionRow = z.object({
  isAdmitted: z.boolean(),
  /** Tokens of the day that were used by ended calls. */
  used: z.number(),
  resetsAt: z.date(),
});
const claimRow = z.object({ claim: z.string() });
const endedRow = z.object({ isEnded: z.boolean() });
const countRow = z.object({ count: z.number() });
const nothing = z.object({});

/** The current UTC day by the database's clock, so that all replicas change over at the same moment. */
const TODAY = sql.fragment`(now() at time zone 'UTC')::date`;

/** The result of a request to begin a call. */
export type Admission = z.output<typeof admissionRow>;

/** A call that is about to begin. */
export interface NewCall {
  /** A new UUID that identifies the call's owner. */
  claim: string;
  companyId: string;
  /** Tokens that are held until the call is settled. */
  reserved: number;
  leaseMs: number;
  /** AGENT_TOKENS_PER_DAY; 0 is no limit. */
  tokensPerDay: number;
}

/**
 * The tables `admitted` and `held` of a statement. They hold a call's tokens and its claim while the
 * company's day has any left. Of concurrent calls, none is admitted once the sum has reached the limit.
 *
 * @param unless a condition under which nothing is done
 */
export function admission(call: NewCall, unless: SqlFragment): SqlFragment {
  const { claim, companyId, reserved, leaseMs, tokensPerDay } = call;
  return sql.fragment`
    admitted as (
      insert into integrations.agent_token_days as token_day (company_id, day, used, reserved)
      select ${companyId}::uuid, ${TODAY}, 0, ${reserved}::bigint
      where not (${unless})
      on conflict (company_id, day) do update
      set reserved = token_day.reserved + excluded.reserved
      where ${tokensPerDay}::bigint = 0
        or token_day.used + token_day.reserved < ${tokensPerDay}::bigint
      returning company_id, day
    ), held as (
      insert into integrations.agent_calls (claim, company_id, day, reserved, held_until)
      select ${claim}::uuid, company_id, day, ${reserved}::bigint,
        clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'
      from admitted
      returning claim
    )
  `;
}

/** The columns of `admissionRow`, for a statement with the tables of `admission`. */
export function admissionColumns(companyId: string): SqlFragment {
  return sql.fragment`
    exists (select from held) as "isAdmitted",
    coalesce((
      select used
      from integrations.agent_token_days
      where company_id = ${companyId}::uuid and day = ${TODAY}
    ), 0) as "used",
    (${TODAY} + 1)::timestamp at time zone 'UTC' as "resetsAt"
  `;
}

/** Holds tokens for a call that is not recorded. */
export async function admitCall(database: Queryable, call: NewCall): Promise<Admission> {
  return database.one(sql.prepared("agent_call_admit", admissionRow)`
    with ${admission(call, sql.fragment`false`)}
    select ${admissionColumns(call.companyId)}
  `);
}

/**
 * The tables `released` and `counted` of a statement. They release the tokens of a call, and count the
 * used ones to the day that held them. Both are empty when the claim was lost.
 */
export function settlement(claim: string, usedTokens: number): SqlFragment {
  return sql.fragment`
    released as (
      delete from integrations.agent_calls
      where claim = ${claim}::uuid
      returning claim, company_id, day, reserved
    ), counted as (
      update integrations.agent_token_days as token_day
      set reserved = token_day.reserved - released.reserved,
        used = token_day.used + ${usedTokens}::bigint
      from released
      where token_day.company_id = released.company_id and token_day.day = released.day
    )
  `;
}

/** Settles a call that is not recorded; false when the claim was lost. */
export async function settleCall(
  database: Queryable,
  claim: string,
  usedTokens: number,
): Promise<boolean> {
  const { isEnded } = await database.one(sql.prepared("agent_call_settle", endedRow)`
    with ${settlement(claim, usedTokens)}
    select exists (select from released) as "isEnded"
  `);
  return isEnded;
}

/**
 * Extends calls for `leaseMs` from now.
 *
 * @returns the claims that still exist
 */
export async function renewCalls(
  database: Queryable,
  claims: readonly string[],
  leaseMs: number,
): Promise<readonly string[]> {
  const rows = await database.any(sql.prepared("agent_calls_renew", claimRow)`
    update integrations.agent_calls
    set held_until = clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'
    where claim = any(${sql.array([...claims], "uuid")})
    returning claim
  `);
  return rows.map(({ claim }) => claim);
}

/**
 * Ends up to `limit` calls whose process is dead: their tokens are released, and executions among them
 * fail with `error`, a JSON object.
 *
 * @returns the number of ended calls
 */
export async function endDeadCalls(
  database: Queryable,
  errorJson: string,
  limit: number,
): Promise<number> {
  const { count } = await database.one(sql.prepared("agent_calls_sweep", countRow)`
    with dead as (
      delete from integrations.agent_calls
      where claim in (
        select claim
        from integrations.agent_calls
        where held_until < clock_timestamp()
        limit ${limit}::integer
        for update skip locked
      )
      returning claim, company_id, day, reserved
    ), dead_days as (
      select company_id, day, sum(reserved)::bigint as reserved
      from dead
      group by company_id, day
    ), locked_days as (
      -- In one order, so that sweeps of two processes never wait for each other.
      select token_day.company_id, token_day.day, dead_days.reserved
      from integrations.agent_token_days as token_day
      join dead_days using (company_id, day)
      order by token_day.company_id, token_day.day
      for update of token_day
    ), given_back as (
      update integrations.agent_token_days as token_day
      set reserved = token_day.reserved - dead_day.reserved
      from locked_days as dead_day
      where token_day.company_id = dead_day.company_id and token_day.day = dead_day.day
    ), ended as (
      update integrations.agent_executions as execution
      set status = 'failed', error = ${errorJson}::json, idempotency_key = null,
        ended_at = clock_timestamp(),
        duration_ms = (extract(epoch from clock_timestamp() - execution.created_at) * 1000)::bigint
      from dead
      where execution.claim = dead.claim and execution.status = 'running'
    )
    select count(*) as "count" from dead
  `);
  return count;
}

/**
 * Deletes up to `limit` days that are long past.
 *
 * @returns the number of deleted days
 */
export async function deleteOldTokenDays(database: Queryable, limit: number): Promise<number> {
  const { rowCount } = await database.query(sql.prepared("agent_token_days_purge", nothing)`
    delete from integrations.agent_token_days
    where (company_id, day) in (
      select company_id, day
      from integrations.agent_token_days
      where day < ${TODAY} - 7 and reserved = 0
      limit ${limit}::integer
    )
  `);
  return rowCount;
}
