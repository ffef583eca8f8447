// What runs that are stored cost those that come: lists, reads and starts beside 10 million runs of two
// years, against the same statements on the empty tables before, and the longest request while a month
// is taken away (D58, ADR 31).
//
//   node bench/stored-runs.ts [--runs 10000000]
//   node bench/stored-runs.ts --database postgresql://…   a scratch database that this has filled before
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { migrate, newId, newUuid, openDatabase, sql, sqlStateOf } from "@workflow/db";
import type { Database } from "@workflow/db";
import { startLocalPostgres } from "@workflow/local-postgres";
import { z } from "zod";
import { listRuns } from "../services/runs/src/store/list-runs.ts";
import type { RunFilter } from "../services/runs/src/store/list-runs.ts";
import { detachPartition, listPartitions } from "../services/runs/src/store/partitions.ts";
import { findRun } from "../services/runs/src/store/read-runs.ts";
import { insertRuns } from "../services/runs/src/store/start-runs.ts";

const nothing = z.object({});
const REPEATS = 200;
const COMPANY = "00000000-0000-7000-8000-000000000003";
const WORKFLOW = "00000000-0000-7000-8000-000000000003";
const DEPLOYMENT = "00000000-0000-7000-8000-000000000001";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "10000000" }, database: { type: "string" } },
});

type Measures = Record<string, () => Promise<unknown>>;

/** The calls of callers, with the statements of the service. */
function measuresOf(database: Database): Measures {
  const filter: RunFilter = {
    companyId: COMPANY,
    workflowId: null,
    statuses: [],
    triggerType: null,
    createdAfter: null,
    createdBefore: null,
    tag: null,
  };
  const list = (more: Partial<RunFilter>) =>
    listRuns(database, { ...filter, ...more }, { after: null, limit: 51 });
  const yearAgo = new Date(Date.now() - 365 * 86_400_000);
  return {
    "list, no filter": () => list({}),
    "list, failed": () => list({ statuses: ["failed"] }),
    "list, active": () => list({ statuses: ["pending", "running"] }),
    "list, one workflow": () => list({ workflowId: WORKFLOW }),
    "list, before a year ago": () => list({ createdBefore: yearAgo }),
    "list, company without runs": () => list({ companyId: newUuid() }),
    "read a run": () => findRun(database, COMPANY, newId("run_")),
    "store a run": () => startOne(database),
  };
}

async function startOne(database: Database): Promise<void> {
  const stored = await insertRuns(database, [
    {
      id: newId("run_"),
      companyId: COMPANY,
      workflowId: WORKFLOW,
      deploymentId: DEPLOYMENT,
      workflowVersion: 1,
      triggerType: "api",
      input: "{}",
      connectionId: null,
      taskRuntimeRunId: "bench",
      hasSyncWaiter: false,
      requestId: null,
      traceparent: null,
      idempotencyKey: null,
      triggerData: null,
      scheduleId: null,
      triggerDepth: 0,
      parent: null,
      rootRunId: null,
      startFault: null,
      createdAt: new Date(),
    },
  ]);
  if (stored.size !== 1) throw new Error("the run was not stored");
}

/** Makes empty tables that begin two years ago, and a workflow for the runs. */
async function prepare(database: Database): Promise<void> {
  await database.query(sql.type(nothing)`
    do $$
    declare parent text; part text;
    begin
      foreach parent in array array['runs', 'child_runs', 'step_results'] loop
        for part in select name from runs.list_partitions(parent) loop
          execute format('drop table runs.%I', part);
        end loop;
        execute format(
          'create table runs.%I partition of runs.%I for values from (minvalue) to (%L)',
          parent || '_first', parent,
          runs.run_id_at(date_trunc('month', now() - interval '700 days') + interval '1 month')
        );
      end loop;
      perform runs.make_partitions(now() + interval '3 months');
    end $$
  `);
}

async function deploy(database: Database): Promise<void> {
  await database.query(sql.type(nothing)`
    insert into runs.deployments (
      id, company_id, workflow_id, revision, version, name, trigger, steps
    )
    values (${DEPLOYMENT}, ${COMPANY}, ${WORKFLOW}, 1, 1, 'bench', '{"type": "api"}', '[]')
    on conflict do nothing
  `);
  await database.query(sql.type(nothing)`
    insert into runs.deployment_heads (workflow_id, company_id, revision, status, deployment_id)
    values (${WORKFLOW}, ${COMPANY}, 1, 'active', ${DEPLOYMENT})
    on conflict do nothing
  `);
}

/**
 * Stores runs of 50 companies and 500 workflows, evenly over 700 days, with a step result for each fifth.
 */
async function fill(database: Database, count: number): Promise<void> {
  await database.query(sql.type(nothing)`
    insert into runs.runs (
      id, company_id, workflow_id, deployment_id, workflow_version, status, trigger_type, input,
      created_at, started_at, completed_at
    )
    select runs.run_id_at(at) || 'e008' || lpad(nth::text, 12, '0'),
      ('00000000-0000-7000-8000-0000000000' || lpad((nth % 50)::text, 2, '0'))::uuid,
      ('00000000-0000-7000-8000-00000000' || lpad((nth % 500)::text, 4, '0'))::uuid,
      ${DEPLOYMENT}, 1, case when nth % 23 = 0 then 'failed' else 'completed' end,
      case when nth % 7 = 0 then 'manual' else 'api' end, '{"n": 1}', at, at, at
    from (
      select nth, now() - interval '700 days' * (1 - nth::float8 / ${count}) as at
      from generate_series(1, ${count}) as nth
    ) as drawn
  `);
  await database.query(sql.type(nothing)`
    insert into runs.step_results (
      run_id, path, seq, step_id, type, status, started_at, completed_at, output
    )
    select id, 'a', 1, 'a', 'transform', 'success', created_at, completed_at, '{"n": 2}'
    from runs.runs
    where right(id, 1) in ('0', '5') and completed_at is not null
  `);
  await database.query(sql.type(nothing)`vacuum analyze runs.runs, runs.step_results`);
}

/** Medians in ms. */
async function measure(database: Database): Promise<Map<string, number>> {
  const medians = new Map<string, number>();
  for (const [name, request] of Object.entries(measuresOf(database))) {
    const times: number[] = [];
    for (let nth = 0; nth < REPEATS; nth += 1) times.push(await timeOf(request));
    medians.set(name, times.toSorted((one, other) => one - other)[REPEATS / 2] ?? Number.NaN);
  }
  return medians;
}

async function timeOf(request: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await request();
  return performance.now() - from;
}

/** Takes the oldest month away while four callers go on; returns the longest request in ms. */
async function dropUnderLoad(database: Database): Promise<{ longestMs: number; tries: number }> {
  const requests = Object.values(measuresOf(database));
  const end = new AbortController();
  let longestMs = 0;
  const call = async (first: number): Promise<void> => {
    for (let nth = first; !end.signal.aborted; nth += 1) {
      const request = requests[nth % requests.length];
      if (request !== undefined) longestMs = Math.max(longestMs, await timeOf(request));
    }
  };
  const callers = Promise.all([0, 1, 2, 3].map(call));
  // Plans are made and caches warm up first.
  await timeOf(() => new Promise((resolve) => setTimeout(resolve, 3_000)));
  const before = longestMs;
  longestMs = 0;
  const oldest = (await listPartitions(database)).at(0);
  let tries = 0;
  for (let detached = false; oldest !== undefined && !detached && tries < 30;) {
    tries += 1;
    try {
      detached = await detachPartition(database, oldest, 150);
    } catch (error) {
      if (sqlStateOf(error) !== "55P03") throw error;
    }
  }
  await timeOf(() => new Promise((resolve) => setTimeout(resolve, 3_000)));
  end.abort();
  await callers;
  console.log(
    `| longest request, without and with the drop | ${before.toFixed(0)} | ${longestMs.toFixed(0)} | |`,
  );
  return { longestMs, tries };
}

async function main(connectionUri: string, isFilled: boolean): Promise<void> {
  const open = () =>
    openDatabase({
      connectionUri,
      role: "workflow_runs",
      applicationName: "bench",
      maxConnections: 5,
      genericPlans: true,
    });
  const owner = await openDatabase({
    connectionUri,
    applicationName: "bench-owner",
    maxConnections: 1,
    statementTimeoutMs: 3_600_000,
  });
  const measured = async () => {
    const database = await open();
    try {
      return await measure(database);
    } finally {
      await database.end();
    }
  };
  let empty = new Map<string, number>();
  if (!isFilled) await prepare(owner);
  await deploy(owner);
  if (!isFilled) {
    empty = await measured();
    await fill(owner, Number(values.runs));
  }
  const full = await measured();
  console.log("| p50 in ms | empty | full | ratio |\n| --- | --- | --- | --- |");
  for (const [name, ms] of full) {
    const before = empty.get(name) ?? Number.NaN;
    console.log(
      `| ${name} | ${before.toFixed(2)} | ${ms.toFixed(2)} | ${(ms / before).toFixed(2)} |`,
    );
  }
  const database = await open();
  const { tries } = await dropUnderLoad(database);
  console.log(`\nThe month was detached at try ${tries}.`);
  await database.end();
  await owner.end();
}

if (values.database !== undefined) await main(values.database, true);
else {
  const dataDir = await mkdtemp(join(tmpdir(), "stored-runs-"));
  const server = await startLocalPostgres({ dataDir, durable: false });
  try {
    const directory = join(import.meta.dirname, "../services/runs/migrations");
    await migrate({
      connectionUri: server.connectionUri,
      services: [{ schema: "runs", role: "workflow_runs", directory }],
    });
    await main(server.connectionUri, false);
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
