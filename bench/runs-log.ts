import type { Scope } from "@workflow/async";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { z } from "zod";

const DRAIN_TIMEOUT_MS = 180_000;
const POLL_MS = 50;

/** The number of runs that one statement stores. */
const STORE_MAX = 50_000;

const completions = z.object({ unfinished: z.number(), p50_ms: z.number(), last_ms: z.number() });
const counted = z.object({ runs: z.number() });

const summary = z.object({
  runs: z.number(),
  completed: z.number(),
  seconds: z.number().nullable(),
  p50_ms: z.number().nullable(),
  p99_ms: z.number().nullable(),
  start_p50_ms: z.number().nullable(),
  start_p99_ms: z.number().nullable(),
});

/** Figures of the stored runs of a workflow. */
export interface RunsSummary {
  runs: number;
  /** The runs divided by the seconds from the first acceptance to the last completion. */
  perSecond: number;
  /** Times from acceptance to completion. */
  p50Ms: number;
  p99Ms: number;
  /** Times from acceptance to the beginning of the execution. */
  startP50Ms: number;
  startP99Ms: number;
}

/** The runs as the system has stored them, read only while no load is on. */
export interface RunsLog {
  /** Waits until no run is under way. */
  drained(): Promise<void>;
  /** Waits until no run of the workflow is under way. Throws when one has not completed. */
  summarize(workflowId: string): Promise<RunsSummary>;
  /** The number of runs of the workflow that have not begun. */
  pending(workflowId: string): Promise<number>;
  /** Waits until this number of runs of the workflow is suspended. */
  suspended(workflowId: string, count: number): Promise<void>;
  /** Waits until no run is under way; returns how long after a moment the workflow's runs completed. */
  completions(workflowId: string, since: Date): Promise<Completions>;
  /** Stores copies of the one run of a workflow, until its company has about this number of runs. */
  multiply(workflowId: string, count: number): Promise<void>;
}

/** Times from a moment to the completion of runs. */
export interface Completions {
  p50Ms: number;
  lastMs: number;
}

/** Opens the runs for reading. */
export async function openRunsLog(scope: Scope, databaseUrl: string): Promise<RunsLog> {
  const client = new Client({ connectionString: databaseUrl, application_name: "bench" });
  // A lost connection is reported by the next query.
  client.on("error", () => {});
  await client.connect();
  scope.defer(() => client.end());
  return {
    drained: () => drained(client),
    async summarize(workflowId) {
      await drainedOf(client, workflowId);
      return summarize(client, workflowId);
    },
    pending: (workflowId) => countRuns(client, workflowId, "pending"),
    async suspended(workflowId, count) {
      const deadline = Date.now() + DRAIN_TIMEOUT_MS;
      for (;;) {
        const runs = await countRuns(client, workflowId, "suspended");
        if (runs === count) return;
        if (Date.now() > deadline) throw new Error(`Only ${runs} of ${count} runs are suspended.`);
        await delay(10 * POLL_MS);
      }
    },
    async completions(workflowId, since) {
      await drained(client);
      return readCompletions(client, workflowId, since);
    },
    async multiply(workflowId, count) {
      for (let stored = 0; stored < count; stored += STORE_MAX) {
        await client.query(STORE_COPIES, [
          workflowId,
          stored + 1,
          Math.min(stored + STORE_MAX, count),
          count,
        ]);
      }
      await client.query("vacuum analyze runs.runs");
    },
  };
}

/** Waits until a query finds nothing. */
async function untilNone(client: Client, query: string, values: unknown[]): Promise<void> {
  const deadline = Date.now() + DRAIN_TIMEOUT_MS;
  while ((await client.query(query, values)).rows.length > 0) {
    if (Date.now() > deadline) throw new Error("The runs have not come to an end.");
    await delay(POLL_MS);
  }
}

// A live run has a task; a query for one task costs the system next to nothing.
const drained = (client: Client): Promise<void> =>
  untilNone(client, "select from runs.tasks limit 1", []);

const drainedOf = (client: Client, workflowId: string): Promise<void> =>
  untilNone(
    client,
    "select from runs.tasks join runs.runs on id = run_id where workflow_id = $1 limit 1",
    [workflowId],
  );

async function countRuns(client: Client, workflowId: string, status: string): Promise<number> {
  const { rows } = await client.query(
    "select count(*)::int as runs from runs.runs where workflow_id = $1 and status = $2",
    [workflowId, status],
  );
  return counted.parse(rows[0]).runs;
}

async function summarize(client: Client, workflowId: string): Promise<RunsSummary> {
  const { rows } = await client.query(
    `select count(*)::int as runs,
           count(*) filter (where status = 'completed')::int as completed,
           extract(epoch from max(completed_at) - min(created_at))::float8 as seconds,
           percentile_disc(0.5) within group (order by ms) as p50_ms,
           percentile_disc(0.99) within group (order by ms) as p99_ms,
           percentile_disc(0.5) within group (order by start_ms) as start_p50_ms,
           percentile_disc(0.99) within group (order by start_ms) as start_p99_ms
         from (
           select status, created_at, completed_at,
             extract(epoch from started_at - created_at)::float8 * 1000 as start_ms,
             extract(epoch from completed_at - created_at)::float8 * 1000 as ms
           from runs.runs where workflow_id = $1
         ) run`,
    [workflowId],
  );
  const row = summary.parse(rows[0]);
  const { runs, completed, seconds, p50_ms, p99_ms } = row;
  if (runs === 0 || completed < runs) {
    throw new Error(`Only ${completed} of ${runs} runs have completed.`);
  }
  return {
    runs,
    perSecond: runs / (seconds ?? Number.NaN),
    p50Ms: p50_ms ?? Number.NaN,
    p99Ms: p99_ms ?? Number.NaN,
    startP50Ms: row.start_p50_ms ?? Number.NaN,
    startP99Ms: row.start_p99_ms ?? Number.NaN,
  };
}

async function readCompletions(
  client: Client,
  workflowId: string,
  since: Date,
): Promise<Completions> {
  const { rows } = await client.query(
    `select count(*) filter (where status <> 'completed')::int as unfinished,
           percentile_disc(0.5) within group (order by ms) as p50_ms,
           max(ms) as last_ms
         from (
           select status, extract(epoch from completed_at - $2::timestamptz)::float8 * 1000 as ms
           from runs.runs where workflow_id = $1
         ) run`,
    [workflowId, since],
  );
  const { unfinished, p50_ms, last_ms } = completions.parse(rows[0]);
  if (unfinished > 0) throw new Error(`${unfinished} runs have not completed.`);
  return { p50Ms: p50_ms, lastMs: last_ms };
}

// Ids are hexadecimal digits here, which are Base32 digits too; their order is that of time.
const STORE_COPIES = `insert into runs.runs (
             id, company_id, workflow_id, deployment_id, workflow_version, status, trigger_type,
             input, output, created_at, started_at, completed_at
           )
           select 'run_01' || lpad(to_hex(n), 24, '0'), company_id,
             case when n % 10 = 0 then workflow_id
               else '00000000-0000-7000-8000-000000000000'::uuid end,
             deployment_id, 1,
             case when n % 1000 = 0 then 'timeout' when n % 50 = 0 then 'failed'
               else 'completed' end,
             'api', input, output, at, at, at + interval '5 milliseconds'
           from runs.runs, generate_series($2::int, $3::int) as n,
             lateral (select created_at - ($4::int - n) * interval '1 second' as at) as moment
           where workflow_id = $1
             and id = (select max(id) from runs.runs where workflow_id = $1)`;
