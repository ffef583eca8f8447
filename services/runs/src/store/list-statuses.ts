import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { RUN_STATUSES } from "../domain/run-status.ts";
import { oldestRun } from "./oldest-run.ts";

const statusRow = z.object({ id: z.string(), status: z.enum(RUN_STATUSES) });

/** Statuses of a company's runs. Ids of other companies' runs, and unknown ids, are left out. */
export async function listStatuses(
  queryable: Queryable,
  companyId: string,
  runIds: readonly string[],
) {
  if (runIds.length === 0) return [];
  return queryable.any(sql.prepared("run_statuses", statusRow)`
    select id, status
    from runs.runs
    where id = any(${sql.array([...runIds], "text")}) and id >= ${oldestRun(runIds)}
      and company_id = ${companyId}
  `);
}
