import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const versionRow = z.object({ id: z.string(), version: z.string() });
const newStepRow = z.object({ run_id: z.string(), seq: z.number(), path: z.string() });

/**
 * What tells a changed run from an unchanged one: every checkpoint updates its run's row, whatever
 * else it writes, and so gives it another xmin.
 */
export async function listVersions(queryable: Queryable, runIds: readonly string[]) {
  return queryable.any(sql.prepared("watch_versions", versionRow)`
    select id, xmin::text as version from runs.runs
    where id = any(${sql.array([...runIds], "text")})
  `);
}

/** Which step results of a run are known already. */
export interface KnownSteps {
  runId: string;
  /** All up to this number are known, but for the missing ones. */
  upTo: number;
  missing: readonly number[];
}

/** The step results of runs that are not known yet, by run in the order in which the steps began. */
export async function listNewSteps(queryable: Queryable, known: readonly KnownSteps[]) {
  const rows = JSON.stringify(
    known.map(({ runId, upTo, missing }) => ({ run_id: runId, up_to: upTo, missing })),
  );
  return queryable.any(sql.prepared("watch_steps", newStepRow)`
    select result.run_id, result.seq, result.path
    from json_to_recordset(${rows}::json) as known (run_id text, up_to integer, missing integer[])
    join runs.step_results as result
      on result.run_id = known.run_id
      and (result.seq > known.up_to or result.seq = any(known.missing))
    order by result.run_id, result.seq
  `);
}
