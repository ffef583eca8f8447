import { constraintOf, sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import type { ConnectionKey } from "../domain/connection-key.ts";
import { LIVE_STATUSES } from "../domain/connection-states.ts";

const pauseRow = z.object({
  connectionId: z.string(),
  pausedMs: z.number(),
  /** The time until the last given turn. */
  busyMs: z.number(),
});
const turnRow = pauseRow.extend({ waitMs: z.number() });
const nothing = z.object({});

/** The remaining pause of a connection, in milliseconds by the database's clock. */
export type PauseRow = z.output<typeof pauseRow>;

/** A pause with the wait until the caller's turn. */
export type TurnRow = z.output<typeof turnRow>;

/** The pause when the provider names none: doubled with each strike, up to a minute. */
const PAUSE_MS = { first: 1_000, most: 60_000 };
/** The time between two turns: doubled with each strike, up to five seconds, and 1 % less after each turn. */
const SPACING_MS = { first: 50, most: 5_000, least: 1 };
/** Strikes are reset after this time without a refusal. */
const FORGIVEN_AFTER_MS = 60_000;
/** The longest pause; the provider is called again afterwards. */
const PAUSE_MS_MAX = 60 * 60_000;

const columns = sql.fragment`
  pause.connection_id as "connectionId",
  extract(epoch from pause.paused_until - clock_timestamp())::float8 * 1000 as "pausedMs",
  extract(epoch from pause.next_turn_at - clock_timestamp())::float8 * 1000 as "busyMs"
`;

const spacing = sql.fragment`
  greatest(
    least(${SPACING_MS.first} * power(2, least(strikes - 1, 20)), ${SPACING_MS.most})
      * power(0.99, least(turns, 2000)),
    ${SPACING_MS.least}
  ) * interval '1 millisecond'
`;

/** A time that doubles with each strike, from `first` to `most`. */
const byStrikes = ({ first, most }: { first: number; most: number }) => sql.fragment`
  least(${first} * power(2, least(coalesce(known.strikes, 1) - 1, 20)), ${most})
    * interval '1 millisecond'
`;

/** The end of a pause: the provider's own, or one by the strikes. An old answer does not change the latter. */
const pausedUntil = sql.fragment`
  case
    -- Strikes keep a wait of next to nothing from being a loop of requests.
    when said.wanted is not null then greatest(known.paused_until, said.now + greatest(
      said.wanted,
      case when coalesce(known.is_news, true) then ${byStrikes(SPACING_MS)} end
    ))
    when coalesce(known.is_news, true) then said.now + ${byStrikes(PAUSE_MS)}
    else known.paused_until
  end
`;

/** A provider's answer to one request. */
export interface PauseReport extends ConnectionKey {
  /** The pause that the provider asks for; null when it names none. */
  retryAfterMs: number | null;
  /** The time since the request was sent. */
  ageMs: number;
}

/**
 * Pauses a connection and gives the caller a turn afterwards. An answer to a request from before the
 * end of the last pause says nothing new, so a thousand concurrent refusals count as one strike.
 *
 * @returns null when the connection has ended, and callers need not wait
 */
export async function pauseConnection(
  database: Queryable,
  report: PauseReport,
): Promise<TurnRow | null> {
  try {
    return await upsertPause(database, report);
  } catch (error) {
    // The connection was removed after the caller had read it.
    if (constraintOf(error) === "connection_pauses_connection_fkey") return null;
    throw error;
  }
}

async function upsertPause(
  database: Queryable,
  { companyId, connectionId, retryAfterMs, ageMs }: PauseReport,
): Promise<TurnRow | null> {
  // A wait of 0, or until a past time, means only that there were too many calls.
  const given =
    retryAfterMs === null || retryAfterMs <= 0 ? null : Math.min(retryAfterMs, PAUSE_MS_MAX);
  return database.maybeOne(sql.prepared("connection_pause", turnRow)`
    with live as (
      -- Its end waits for this, or this for its end; whoever ends it locks the two in the same order.
      select id, company_id
      from integrations.connections
      where id = ${connectionId} and company_id = ${companyId}
        and status = any(${sql.array([...LIVE_STATUSES], "text")})
      for share
    ), said as (
      select clock_timestamp() as now,
        clock_timestamp() - ${ageMs}::float8 * interval '1 millisecond' as sent_at,
        ${given}::float8 * interval '1 millisecond' as wanted
    ), known as (
      select pause.paused_until, pause.next_turn_at, pause.turns,
        said.sent_at > pause.paused_until as is_news,
        case
          when said.sent_at <= pause.paused_until then pause.strikes
          when said.now > pause.next_turn_at
            + ${FORGIVEN_AFTER_MS}::float8 * interval '1 millisecond' then 1
          else pause.strikes + 1
        end as strikes
      from said, live, integrations.connection_pauses as pause
      where pause.connection_id = live.id and pause.company_id = live.company_id
      for update of pause
    ), judged as (
      select coalesce(known.is_news, true) as is_news, coalesce(known.strikes, 1) as strikes,
        known.next_turn_at,
        case when coalesce(known.is_news, true) then 0 else known.turns end as turns,
        ${pausedUntil} as paused_until
      from said left join known on true
    ), planned as (
      select strikes, turns, paused_until,
        case when is_news then paused_until else greatest(next_turn_at, paused_until) end as turn_at
      from judged
    )
    insert into integrations.connection_pauses as pause
      (connection_id, company_id, paused_until, next_turn_at, strikes, turns)
    select live.id, live.company_id, paused_until, turn_at + ${spacing}, strikes, turns + 1
    from planned, live
    on conflict on constraint connection_pauses_pkey do update
    set paused_until = greatest(pause.paused_until, excluded.paused_until),
      next_turn_at = greatest(excluded.next_turn_at, pause.paused_until),
      strikes = excluded.strikes,
      turns = excluded.turns
    returning ${columns}, extract(
      epoch from (select turn_at from planned) - clock_timestamp()
    )::float8 * 1000 as "waitMs"
  `);
}

/** Gives a caller the next turn of a connection; null when callers need not wait any more. */
export async function takeTurn(
  database: Queryable,
  { companyId, connectionId }: ConnectionKey,
): Promise<TurnRow | null> {
  return database.maybeOne(sql.prepared("connection_take_turn", turnRow)`
    with turn as (
      select connection_id, next_turn_at, ${spacing} as spacing
      from integrations.connection_pauses
      where connection_id = ${connectionId} and company_id = ${companyId}
        and next_turn_at > clock_timestamp()
      for update
    )
    update integrations.connection_pauses as pause
    set next_turn_at = turn.next_turn_at + turn.spacing, turns = pause.turns + 1
    from turn
    where pause.connection_id = turn.connection_id
    returning ${columns},
      extract(epoch from turn.next_turn_at - clock_timestamp())::float8 * 1000 as "waitMs"
  `);
}

/** Deletes the pause of a connection that ends. Deleting a connection deletes its row by itself. */
export async function deletePause(
  database: Queryable,
  { companyId, connectionId }: ConnectionKey,
): Promise<void> {
  await database.query(sql.prepared("connection_pause_delete", nothing)`
    delete from integrations.connection_pauses
    where connection_id = ${connectionId} and company_id = ${companyId}
  `);
}

/**
 * Paused connections of all companies, for the memory of a replica. When there are more than it can
 * hold, each company's longest pauses come first, in turns between companies.
 */
export async function listPauses(
  database: Queryable,
  { limit, perCompany }: { limit: number; perCompany: number },
): Promise<readonly PauseRow[]> {
  return database.any(sql.prepared("connection_pauses_list", pauseRow)`
    select ${columns}
    from (
      select connection_id, paused_until, next_turn_at,
        row_number() over (partition by company_id order by next_turn_at desc) as place
      from integrations.connection_pauses
      where next_turn_at > clock_timestamp()
    ) as pause
    where pause.place <= ${perCompany}::integer
    order by pause.place, pause.next_turn_at desc
    limit ${limit}
  `);
}

/**
 * Deletes up to `limit` ended pauses.
 *
 * @returns the number of deleted pauses
 */
export async function deleteOldPauses(database: Queryable, limit: number): Promise<number> {
  const { rowCount } = await database.query(sql.prepared("connection_pauses_purge", nothing)`
    delete from integrations.connection_pauses
    where connection_id in (
      select connection_id
      from integrations.connection_pauses
      where next_turn_at < clock_timestamp()
        - ${2 * FORGIVEN_AFTER_MS}::float8 * interval '1 millisecond'
      order by next_turn_at
      limit ${limit}
      for update skip locked
    )
  `);
  return rowCount;
}
