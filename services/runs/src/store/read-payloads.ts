import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { oldestRun } from "./oldest-run.ts";

const payloadRow = z.object({
  companyId: z.string(),
  runId: z.string(),
  fits: z.boolean(),
  /** Null when the input does not fit, or has no room in this answer. */
  input: z.string().nullable(),
  /** `null` before the run has an output. */
  output: z.string().nullable(),
});

/** Input and output of a run, as JSON text. */
export type PayloadRow = z.infer<typeof payloadRow>;

/** The limits of one read. */
export interface PayloadBounds {
  /** Bytes of the input and output of one run. */
  runBytesMax: number;
  /** Bytes of all inputs and outputs. */
  bytesMax: number;
}

/**
 * Inputs and outputs of runs. Runs of other companies, and unknown ones, are left out. A document that is
 * too large, or has no room beside those before it, does not leave the database. A document whose
 * compressed size is above the limit is not even unpacked to be measured.
 */
export async function readPayloads(
  queryable: Queryable,
  refs: readonly { companyId: string; runId: string }[],
  { runBytesMax, bytesMax }: PayloadBounds,
): Promise<readonly PayloadRow[]> {
  const runIds = refs.map(({ runId }) => runId);
  return queryable.any(sql.prepared("run_payloads", payloadRow)`
    with asked as materialized (
      select distinct on (run.id) run.id, ref.place, sizes.bytes
      from ${sql.unnest(
        refs.map(({ companyId, runId }, place) => [place, companyId, runId]),
        ["int4", "uuid", "text"],
      )} as ref (place, company_id, run_id)
      join runs.runs as run
        on run.id = ref.run_id and run.company_id = ref.company_id
      cross join lateral (
        select case
          when pg_column_size(run.input) + coalesce(pg_column_size(run.output), 0)
            > ${runBytesMax} + 100 then null
          else octet_length(run.input::text) + coalesce(octet_length(run.output::text), 4)
        end as bytes
      ) as sizes
      where run.id = any(${sql.array(runIds, "text")}) and run.id >= ${oldestRun(runIds)}
      order by run.id, ref.place
    ), measured as materialized (
      select id, place, coalesce(bytes <= ${runBytesMax}, false) as fits,
        sum(bytes) filter (where bytes <= ${runBytesMax}) over (order by place) as total
      from asked
    )
    select run.company_id as "companyId", run.id as "runId", measured.fits,
      case when measured.fits and measured.total <= ${bytesMax} then run.input::text end as input,
      case when measured.fits and measured.total <= ${bytesMax}
        then coalesce(run.output::text, 'null') end as output
    from measured
    join runs.runs as run on run.id = measured.id
    where run.id = any(${sql.array(runIds, "text")}) and run.id >= ${oldestRun(runIds)}
  `);
}
