import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { TRIGGER_TYPES } from "../domain/run-status.ts";

const countRow = z.object({ runs: z.number() });

/** The number of a company's pending runs, counted up to a limit. */
export async function countPending(
  queryable: Queryable,
  companyId: string,
  limit: number,
): Promise<number> {
  // All trigger types are named, so that the index with that second column is used.
  const row = await queryable.one(sql.prepared("runs_count_pending", countRow)`
    select count(*)::integer as runs
    from (
      select from runs.runs
      where company_id = ${companyId}
        and trigger_type = any(${sql.array([...TRIGGER_TYPES], "text")})
        and status = 'pending'
      limit ${limit}
    ) as pending
  `);
  return row.runs;
}
