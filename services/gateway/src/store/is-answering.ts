import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const oneRow = z.object({ one: z.number() });

/** Whether the database answers; never rejects. */
export async function isAnswering(database: Queryable): Promise<boolean> {
  try {
    await database.one(sql.type(oneRow)`select 1 as one`);
    return true;
  } catch {
    return false;
  }
}
