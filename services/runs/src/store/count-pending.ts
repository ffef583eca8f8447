import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { TRIGGER_TYPES } from "../domain/run-status.ts";

const countRow = z.object({ runs: z.number() });

/** How many runs of a company are pending; counts no further than a limit. */
export async function countPending(
  queryable: Queryable,
  companyId: string,
  limit: number,
): Promise<number> {
  // All trigger types by name, so that the index answers whose second column that is.
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
