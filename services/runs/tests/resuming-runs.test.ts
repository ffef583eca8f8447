import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase, startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import type { RunsServiceOptions } from "../src/service.ts";
import {
  delay,
  httpStep,
  mapping,
  repeat,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const nothing = z.object({});
const identity = testIdentity();
/** Characters of one answer, which Postgres can't make smaller. */
const LARGE = 300_000;

let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
let database: Database;
let receiver: HttpDouble;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({
    connectionUri: testDatabase.connectionUri,
    applicationName: "test",
    maxConnections: 1,
  });
  // In a table as small as this one Postgres may well read all rows, of any run.
  await database.query(sql.type(nothing)`
    do $$ begin
      execute format('alter database %I set enable_seqscan = off', current_database());
    end $$
  `);
  receiver = await startHttpDouble(() => ({
    body: { text: randomBytes((LARGE * 3) / 4).toString("base64") },
  }));
});
afterAll(async () => {
  await receiver.close();
  await database.end();
  await testDatabase.close();
});

/**
 * Runs the service for as long as `work` takes. After that its connections have reported their
 * statistics to Postgres.
 */
async function withService<T>(
  options: Partial<RunsServiceOptions>,
  work: (harness: RunsHarness) => Promise<T>,
): Promise<T> {
  const { connectionUri: databaseUrl } = testDatabase;
  const harness = await startRunsHarness({ databaseUrl, identity, ...options });
  try {
    return await work(harness);
  } finally {
    await harness.close();
    await waitFor(async () => {
      const { open } = await database.one(sql.type(z.object({ open: z.number() }))`
        select count(*)::integer as open from pg_stat_activity
        where datname = current_database() and application_name like 'runs%'
      `);
      return open === 0;
    });
  }
}

const countsRow = z.object({ rows: z.number(), documents: z.number(), tasks: z.number() });
type Counts = z.infer<typeof countsRow>;

/** Rows of step results that were read, blocks of their documents, and changes of tasks, so far. */
async function readCounts(): Promise<Counts> {
  return database.one(sql.type(countsRow)`
    select sum(result.seq_tup_read + coalesce(result.idx_tup_fetch, 0))::integer as rows,
      sum(io.toast_blks_read + io.toast_blks_hit)::integer as documents,
      max(task.n_tup_upd)::integer as tasks
    from pg_partition_tree('runs.step_results') as part
    join pg_stat_user_tables as result on result.relid = part.relid
    join pg_statio_user_tables as io on io.relid = part.relid
    cross join pg_stat_user_tables as task
    where part.isleaf and task.relid = 'runs.tasks'::regclass
  `);
}

async function countsOf(work: () => Promise<unknown>): Promise<Counts> {
  const before = await readCounts();
  await work();
  const after = await readCounts();
  return {
    rows: after.rows - before.rows,
    documents: after.documents - before.documents,
    tasks: after.tasks - before.tasks,
  };
}

/** Waits by the run's row alone: reading a run over the API would read its results, too. */
async function waitForStatus(runId: string, status: string): Promise<string | null> {
  const row = z.object({ status: z.string(), output: z.string().nullable() });
  return waitFor(
    async () => {
      const run = await database.one(sql.type(row)`
        select status, output::text from runs.runs where id = ${runId}
      `);
      return run.status === status ? [run.output] : null;
    },
    { timeoutMs: 60_000, what: `run ${runId} to be ${status}` },
  ).then(([output = null]) => output);
}

async function makeDue(runId: string): Promise<void> {
  for (const table of ["open_steps", "tasks"]) {
    await database.query(sql.type(nothing)`
      update ${sql.identifier(["runs", table])} set due_at = now() where run_id = ${runId}
    `);
  }
}

describe("a run that resumes (D56)", () => {
  it("reads of what its steps returned only what the next one names", async () => {
    const runId = await withService({}, async (harness) => {
      const workflowId = await harness.deploy([
        repeat("l", { count: 20 }, [
          httpStep("call", receiver.url),
          mapping("m", "{{loop.index}}"),
        ]),
        delay("d", 3_600_000),
        mapping("end", {
          status: "{{steps.call.output.status}}",
          last: "{{steps.m.output}}",
          all: "{{steps.l.output}}",
        }),
      ]);
      const started = await harness.start(workflowId);
      await waitForStatus(started, "suspended");
      return started;
    });
    await makeDue(runId);
    const { rows, documents } = await countsOf(() =>
      withService({}, () => waitForStatus(runId, "completed")),
    );
    const output = await waitForStatus(runId, "completed");
    expect(JSON.parse(output ?? "")).toEqual({
      status: 200,
      last: 19,
      all: Array.from({ length: 20 }, (_, index) => index),
    });
    // An answer has some 150 chunks, each a block and some of their index; twenty have 3,000.
    expect(documents).toBeGreaterThan(0);
    expect(documents).toBeLessThan(1_000);
    // Their number, how each ended, and one output.
    expect(rows).toBeLessThan(150);
  });

  it("reads nothing again after waits that end in the worker that parked it", async () => {
    const WAITS = 300;
    const { rows, tasks } = await countsOf(() =>
      withService({ shortWaitMs: 0 }, async (harness) => {
        const workflowId = await harness.deploy([
          repeat("l", { count: WAITS }, [delay("d", 10), mapping("m", "{{loop.index}}")]),
        ]);
        const output = await waitForStatus(await harness.start(workflowId), "completed");
        expect(JSON.parse(output ?? "")).toHaveLength(WAITS);
      }),
    );
    // The run was parked, and claimed again, for almost every wait.
    expect(tasks).toBeGreaterThan(WAITS);
    // Reading all of them at each wait would be 90,000.
    expect(rows).toBeLessThan(5 * WAITS);
  });

  it("is not even parked for short waits while slots are free", async () => {
    const WAITS = 500;
    const { rows, tasks } = await countsOf(() =>
      withService({}, async (harness) => {
        const workflowId = await harness.deploy([
          repeat("l", { count: WAITS }, [delay("d", 10), mapping("m", "{{loop.index}}")]),
        ]);
        await waitForStatus(await harness.start(workflowId), "completed");
      }),
    );
    expect(tasks).toBeLessThan(WAITS / 2);
    expect(rows).toBe(0);
  });
});

describe("a run that waits in memory for a short while", () => {
  it("gives its slot to others that need one", async () => {
    await withService({ workerConcurrency: 2, shortWaitMs: 30_000 }, async (harness) => {
      const waiting = await harness.deploy([delay("d", 4_900), mapping("m", 1)]);
      const other = await harness.deploy([mapping("m", 2)]);
      const waits = [await harness.start(waiting), await harness.start(waiting)];
      for (const runId of waits) await waitForStatus(runId, "running");
      const run = await harness.runToEnd(other);
      for (const runId of waits) {
        const ended = await harness.waitForEnd(runId);
        expect(ended.outputJson).toBe("1");
        expect(run.completedAt?.getTime()).toBeLessThan(ended.completedAt?.getTime() ?? 0);
      }
    });
  });
});
