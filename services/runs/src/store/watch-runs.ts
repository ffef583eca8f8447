import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { oldestRun } from "./oldest-run.ts";

const versionRow = z.object({ id: z.string(), version: z.string() });
const newStepRow = z.object({ runId: z.string(), seq: z.number(), path: z.string() });

/**
 * The versions of runs. Every checkpoint updates its run's row, whatever else it writes, and so changes
 * its xmin.
 */
export async function listVersions(queryable: Queryable, runIds: readonly string[]) {
  return queryable.any(sql.prepared("watch_versions", versionRow)`
    select id, xmin::text as version from runs.runs
    where id = any(${sql.array([...runIds], "text")}) and id >= ${oldestRun(runIds)}
  `);
}

/** The step results of a run that are known already. */
export interface KnownSteps {
  runId: string;
  /** All up to this number are known, except the missing ones. */
  upTo: number;
  missing: readonly number[];
}

/**
 * The step results of runs that are not known yet, by run in the order in which the steps began. With
 * `offset 0` each run is looked up in its own partition, instead of all partitions being joined.
 */
export async function listNewSteps(queryable: Queryable, known: readonly KnownSteps[]) {
  const rows = JSON.stringify(
    known.map(({ runId, upTo, missing }) => ({ run_id: runId, up_to: upTo, missing })),
  );
  return queryable.any(sql.prepared("watch_steps", newStepRow)`
    select known.run_id as "runId", result.seq, result.path
    from json_to_recordset(${rows}::json) as known (run_id text, up_to integer, missing integer[])
    cross join lateral (
      select seq, path from runs.step_results
      where run_id = known.run_id and (seq > known.up_to or seq = any(known.missing))
      offset 0
    ) as result
    order by known.run_id, result.seq
  `);
}
