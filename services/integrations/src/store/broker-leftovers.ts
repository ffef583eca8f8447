import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import type { AttemptRow } from "./authorization-attempts.ts";

const leftoverRow = z.object({
  attemptId: z.string(),
  companyId: z.string(),
  integration: z.string(),
  tries: z.number(),
  isOpen: z.boolean(),
  /** The time in which the person may still finish at the broker; 0 when it is over. */
  linkLeftMs: z.number(),
});
const usedRow = z.object({ brokerConnectionId: z.string() });
const noted = z.object({ isOpen: z.boolean(), isNoted: z.boolean() });
const nothing = z.object({});

/** An attempt for which people may have connected accounts at the broker. */
export type LeftoverRow = z.output<typeof leftoverRow>;

/**
 * Notes that accounts of an attempt may remain at the broker. Call it before somebody gets the broker's
 * connect link. `over` when the attempt has ended; `full` when the company has `max` such attempts
 * already.
 */
export async function noteLink(
  database: Queryable,
  { id, companyId }: Pick<AttemptRow, "id" | "companyId">,
  { integration, linkLifeMs, max }: { integration: string; linkLifeMs: number; max: number },
): Promise<"noted" | "over" | "full"> {
  const { isOpen, isNoted } = await database.one(sql.prepared("leftover_note", noted)`
    with open as (
      select attempt.id, attempt.company_id
      from integrations.authorization_attempts as attempt
      where attempt.id = ${id}
        and attempt.company_id = ${companyId}
        and attempt.state = 'open'
        and attempt.expires_at > clock_timestamp()
    ),
    noted as (
      insert into integrations.broker_leftovers as leftover (
        attempt_id, company_id, integration, link_ends_at
      )
      select
        open.id, open.company_id, ${integration},
        clock_timestamp() + ${linkLifeMs}::integer * interval '1 millisecond'
      from open
      where exists (
          select from integrations.broker_leftovers as known where known.attempt_id = open.id
        )
        or (
          select count(*)
          from integrations.broker_leftovers as other
          where other.company_id = open.company_id
        ) < ${max}::integer
      on conflict (attempt_id) do update set link_ends_at = excluded.link_ends_at
      returning leftover.attempt_id
    )
    select
      exists (select from open) as "isOpen",
      exists (select from noted) as "isNoted"
  `);
  if (isNoted) return "noted";
  return isOpen ? "full" : "over";
}

/** Claims due attempts for `leaseMs`, of all companies and at most `perCompany` of each. */
export async function claimLeftovers(
  database: Queryable,
  { limit, perCompany, leaseMs }: { limit: number; perCompany: number; leaseMs: number },
): Promise<readonly LeftoverRow[]> {
  return database.any(sql.prepared("leftovers_claim", leftoverRow)`
    with due as (
      select turn.attempt_id
      from (
        select
          leftover.attempt_id, leftover.next_try_at,
          row_number() over (
            partition by leftover.company_id order by leftover.next_try_at
          ) as place
        from integrations.broker_leftovers as leftover
        where leftover.next_try_at <= clock_timestamp()
      ) as turn
      where turn.place <= ${perCompany}::integer
      order by turn.next_try_at
      limit ${limit}::integer
    ),
    locked as (
      select leftover.attempt_id
      from integrations.broker_leftovers as leftover
      join due on due.attempt_id = leftover.attempt_id
      where leftover.next_try_at <= clock_timestamp()
      for update of leftover skip locked
    ),
    claimed as (
      update integrations.broker_leftovers as leftover
      set
        tries = leftover.tries + 1,
        next_try_at = clock_timestamp() + ${leaseMs}::integer * interval '1 millisecond'
      from locked
      where leftover.attempt_id = locked.attempt_id
      returning leftover.*
    )
    select
      claimed.attempt_id as "attemptId",
      claimed.company_id as "companyId",
      claimed.integration,
      claimed.tries,
      exists (
        select
        from integrations.authorization_attempts as attempt
        where attempt.id = claimed.attempt_id
          and attempt.state = 'open'
          and attempt.expires_at > clock_timestamp()
      ) as "isOpen",
      greatest(
        extract(epoch from claimed.link_ends_at - clock_timestamp()) * 1000, 0
      )::float8 as "linkLeftMs"
    from claimed
  `);
}

/** Those of these ids at the broker that connections of the company use. */
export async function listUsedAtBroker(
  database: Queryable,
  companyId: string,
  brokerConnectionIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.any(sql.prepared("leftovers_used", usedRow)`
    select connection.broker_connection_id as "brokerConnectionId"
    from integrations.connections as connection
    where connection.company_id = ${companyId}
      and connection.broker_connection_id = any(${sql.array(brokerConnectionIds, "text")})
  `);
  return new Set(rows.map((row) => row.brokerConnectionId));
}

/** Deletes the note of an ended attempt, when nothing remains or no further try will be made. */
export async function deleteLeftover(
  database: Queryable,
  { attemptId, companyId }: Pick<LeftoverRow, "attemptId" | "companyId">,
): Promise<void> {
  await database.query(sql.prepared("leftover_delete", nothing)`
    delete from integrations.broker_leftovers as leftover
    where leftover.attempt_id = ${attemptId} and leftover.company_id = ${companyId}
  `);
}

/**
 * Postpones the next poll of an open attempt; an attempt that has ended since it was claimed keeps its
 * time.
 */
export async function restLeftover(
  database: Queryable,
  { attemptId, companyId }: Pick<LeftoverRow, "attemptId" | "companyId">,
  pauseMs: number,
): Promise<void> {
  await database.query(sql.prepared("leftover_rest", nothing)`
    update integrations.broker_leftovers as leftover
    set
      next_try_at = clock_timestamp() + ${pauseMs}::integer * interval '1 millisecond',
      tries = 0
    where leftover.attempt_id = ${attemptId}
      and leftover.company_id = ${companyId}
      and exists (
        select
        from integrations.authorization_attempts as attempt
        where attempt.id = leftover.attempt_id
          and attempt.state = 'open'
          and attempt.expires_at > clock_timestamp()
      )
  `);
}

/** Postpones the next poll. A poll without an error resets the count of tries. */
export async function postponeLeftover(
  database: Queryable,
  { attemptId, companyId }: Pick<LeftoverRow, "attemptId" | "companyId">,
  { pauseMs, error }: { pauseMs: number; error: string | null },
): Promise<void> {
  await database.query(sql.prepared("leftover_postpone", nothing)`
    update integrations.broker_leftovers as leftover
    set
      next_try_at = clock_timestamp() + ${pauseMs}::integer * interval '1 millisecond',
      last_error = ${error?.slice(0, 500) ?? null}::text,
      tries = case when ${error === null}::boolean then 0 else leftover.tries end
    where leftover.attempt_id = ${attemptId} and leftover.company_id = ${companyId}
  `);
}
