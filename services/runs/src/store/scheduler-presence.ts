import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const absenceRow = z.object({ from: z.date().nullable(), until: z.date().nullable() });

/** A period in which no scheduler polled. */
export interface Absence {
  from: Date;
  until: Date;
}

/**
 * Notes that a scheduler polls now. Returns the last period longer than `awayMs` in which none did; null
 * when there was none.
 *
 * @param presentAt when this process polled last; its own poll may have taken long
 */
export async function notePoll(
  queryable: Queryable,
  { now, presentAt, awayMs }: { now: Date; presentAt: Date | null; awayMs: number },
): Promise<Absence | null> {
  const at = now.toISOString();
  const present = presentAt?.toISOString() ?? null;
  const { from, until } = await queryable.one(sql.prepared("scheduler_look", absenceRow)`
    insert into runs.scheduler_presence as presence (looked_at)
    values (${at}::timestamptz)
    on conflict on constraint scheduler_presence_pkey do update
    set looked_at = greatest(presence.looked_at, excluded.looked_at),
      away_from = case
        when excluded.looked_at - greatest(presence.looked_at, ${present}::timestamptz)
          > ${awayMs} * interval '1 millisecond'
        then greatest(presence.looked_at, ${present}::timestamptz)
        else presence.away_from
      end,
      away_until = case
        when excluded.looked_at - greatest(presence.looked_at, ${present}::timestamptz)
          > ${awayMs} * interval '1 millisecond'
        then excluded.looked_at
        else presence.away_until
      end
    returning away_from as "from", away_until as until
  `);
  return from === null || until === null ? null : { from, until };
}
