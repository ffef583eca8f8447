import { setTimeout as delay } from "node:timers/promises";
import type { Scope } from "@workflow/service";
import { Client } from "pg";
import { z } from "zod";

const DRAIN_TIMEOUT_MS = 180_000;
const POLL_MS = 50;

const summary = z.object({
  runs: z.number(),
  completed: z.number(),
  seconds: z.number().nullable(),
  p50_ms: z.number().nullable(),
  p99_ms: z.number().nullable(),
});

/** What the stored runs of a workflow tell about their execution. */
export interface RunsSummary {
  runs: number;
  /** Runs by the time from the first acceptance to the last completion. */
  perSecond: number;
  /** From acceptance to completion. */
  p50Ms: number;
  p99Ms: number;
}

/** The runs as the system has stored them; it is read only while no load is on. */
export interface RunsLog {
  /** Waits until no run is under way. */
  drained(): Promise<void>;
  /** Waits as well; throws when a run of the workflow has not completed. */
  summarize(workflowId: string): Promise<RunsSummary>;
}

/** Opens the runs for reading. */
export async function openRunsLog(scope: Scope, databaseUrl: string): Promise<RunsLog> {
  const client = new Client({ connectionString: databaseUrl, application_name: "bench" });
  // A lost connection is reported by the next query.
  client.on("error", () => {});
  await client.connect();
  scope.defer(() => client.end());

  async function drained(): Promise<void> {
    const deadline = Date.now() + DRAIN_TIMEOUT_MS;
    // A live run has a task; asking for one costs the system next to nothing.
    while ((await client.query("select from runs.tasks limit 1")).rows.length > 0) {
      if (Date.now() > deadline) throw new Error("The runs have not come to an end.");
      await delay(POLL_MS);
    }
  }

  return {
    drained,
    async summarize(workflowId) {
      await drained();
      const { rows } = await client.query(
        `select count(*)::int as runs,
           count(*) filter (where status = 'completed')::int as completed,
           extract(epoch from max(completed_at) - min(created_at))::float8 as seconds,
           percentile_disc(0.5) within group (order by ms) as p50_ms,
           percentile_disc(0.99) within group (order by ms) as p99_ms
         from (
           select status, created_at, completed_at,
             extract(epoch from completed_at - created_at)::float8 * 1000 as ms
           from runs.runs where workflow_id = $1
         ) run`,
        [workflowId],
      );
      const { runs, completed, seconds, p50_ms, p99_ms } = summary.parse(rows[0]);
      if (runs === 0 || completed < runs) {
        throw new Error(`Only ${completed} of ${runs} runs have completed.`);
      }
      return {
        runs,
        perSecond: runs / (seconds ?? Number.NaN),
        p50Ms: p50_ms ?? Number.NaN,
        p99Ms: p99_ms ?? Number.NaN,
      };
    },
  };
}
