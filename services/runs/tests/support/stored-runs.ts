import { sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const idRow = z.object({ id: z.string() });
const endRow = z.object({ end: z.date() });

/** What is true of runs that are stored without having been executed. */
export interface StoredRuns {
  companyId: string;
  workflowId: string;
  deploymentId: string;
  count: number;
  /** The days ago between which they were accepted, evenly. */
  daysAgo: { from: number; to: number };
  status: "completed" | "pending";
}

/** Forgets all runs and makes their tables begin with a month of the past: one partition a month. */
export async function partitionSince(database: Database, monthsAgo: number): Promise<void> {
  await database.query(sql.type(nothing)`
    do $$
    declare
      parent text;
      part text;
      first_end text := runs.run_id_at(
        (date_trunc('month', now() at time zone 'UTC')
          - ${sql.literalValue(String(monthsAgo))}::integer * interval '1 month') at time zone 'UTC'
      );
    begin
      truncate runs.tasks, runs.approvals, runs.removed_runs;
      foreach parent in array array['runs', 'child_runs', 'step_results'] loop
        for part in select name from runs.list_partitions(parent) loop
          execute format('drop table runs.%I', part);
        end loop;
        execute format(
          'create table runs.%I partition of runs.%I for values from (minvalue) to (%L)',
          parent || '_first', parent, first_end
        );
      end loop;
      perform runs.make_partitions(now() + interval '3 months');
    end $$
  `);
}

/** Stores runs with two step results and an approval each; returns their ids, the oldest first. */
export async function storeRuns(database: Database, runs: StoredRuns): Promise<readonly string[]> {
  const { companyId, workflowId, deploymentId, count, daysAgo, status } = runs;
  const rows = await database.any(sql.type(idRow)`
    with run as (
      select moment, runs.run_id_at(moment)
          || 'e' || substr(digits, 1, 2) || '8' || substr(digits, 3, 12) as id
      from (
        select translate(md5(random()::text || place), 'ilou', '0000') as digits,
          now() - interval '1 day' * (
            ${daysAgo.from}::float8 + (${daysAgo.to}::float8 - ${daysAgo.from}::float8) * place / ${count}
          ) as moment
        from generate_series(1, ${count}) as place
      ) as drawn
    ), stored as (
      insert into runs.runs (
        id, company_id, workflow_id, deployment_id, workflow_version, status, trigger_type, input,
        created_at, started_at, completed_at
      )
      select id, ${companyId}, ${workflowId}, ${deploymentId}, 1, ${status}, 'api', '{"n": 1}',
        moment, moment, case when ${status} = 'completed' then moment end
      from run
    ), results as (
      insert into runs.step_results (
        run_id, path, seq, step_id, type, status, started_at, completed_at, output
      )
      select id, path, 1, path, 'transform', 'success', moment, moment, '{"n": 2}'
      from run, unnest(array['a', 'b']) as path
    ), asked as (
      insert into runs.approvals (
        id, company_id, workflow_id, run_id, step_id, path, attempt, status, message, created_at,
        decided_at
      )
      select 'apr_' || substr(id, 5), ${companyId}, ${workflowId}, id, 'ask', 'ask', '1', 'approved', 'Go on?',
        moment, moment
      from run
    ), live as (
      insert into runs.tasks (run_id, company_id, due_at)
      select id, ${companyId}, 'infinity' from run where ${status} <> 'completed'
    )
    select id from run order by id
  `);
  return rows.map(({ id }) => id);
}

/** Where the partitions end, the oldest first. */
export async function partitionEnds(database: Database): Promise<readonly Date[]> {
  const rows = await database.any(sql.type(endRow)`
    select runs.run_accepted_at(to_id) as "end" from runs.list_partitions('runs') order by 1
  `);
  return rows.map(({ end }) => end);
}
