import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const clockRow = z.object({ nowMs: z.number() });

/** The time of the database's clock, in milliseconds since the epoch. */
export async function readClock(queryable: Queryable): Promise<number> {
  const { nowMs } = await queryable.one(sql.prepared("clock_read", clockRow)`
    select extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs"
  `);
  return nowMs;
}
