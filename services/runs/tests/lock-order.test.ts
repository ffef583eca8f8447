import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { newId, newUuid, openDatabase, sql, sqlStateOf } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import { z } from "zod";
import { cancelWaitingApprovals } from "../src/store/approvals.ts";
import { deleteSlots } from "../src/store/concurrency-slots.ts";
import { cancelRuns } from "../src/store/end-run.ts";
import { acquireRuns } from "../src/store/load-runs.ts";
import { lockAcquired, writeCheckpoints } from "../src/store/write-journal.ts";
import {
  beginTasksCte,
  deleteTasks,
  disownTasks,
  extendLeases,
  giveBackLeases,
  postponeLeases,
  heldTasksCte,
  settleTasksCte,
  wakeTasks,
} from "../src/task-runtime/postgres-queries.ts";

/** So many that a statement is still locking them when another begins. */
const RUNS = 400;
const ROUNDS = 10;
const FENCE = 1;
const LEASE_MS = 60_000;
const nothing = z.object({});
const entryRow = z.object({ id: z.string(), entry: z.int() });

let testDatabase: TestDatabase;
let database: Database;
let runIds: string[];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { connectionUri } = testDatabase;
  database = await openDatabase({
    connectionUri,
    role: "workflow_runs",
    applicationName: "test",
    maxConnections: 10,
  });
  runIds = Array.from({ length: RUNS }, () => newId("run_"));
  await storeRuns();
});
afterAll(async () => {
  await database.end();
  await testDatabase.close();
});

/** Runs with a leased task, an approval that waits and a slot each. */
async function storeRuns(): Promise<void> {
  const [companyId, workflowId, deploymentId] = [newUuid(), newUuid(), newUuid()];
  const ids = sql.fragment`unnest(${sql.array(runIds, "text")}) as each (id)`;
  await database.query(sql.type(nothing)`
    insert into runs.deployments (
      id, company_id, workflow_id, revision, version, name, trigger, steps
    )
    values (${deploymentId}, ${companyId}, ${workflowId}, 1, 1, 'Locks', '{}', '[]')
  `);
  await database.query(sql.type(nothing)`
    insert into runs.runs (
      id, company_id, workflow_id, deployment_id, workflow_version, trigger_type, input, epoch,
      created_at
    )
    select id, ${companyId}, ${workflowId}, ${deploymentId}, 1, 'api', '{}', ${FENCE}, now()
    from ${ids}
  `);
  await database.query(sql.type(nothing)`
    insert into runs.tasks (run_id, company_id, due_at, fence, worker_id)
    select id, ${companyId}, now() + interval '1 hour', ${FENCE}, 'one' from ${ids}
  `);
  await database.query(sql.type(nothing)`
    insert into runs.approvals (
      id, company_id, workflow_id, run_id, step_id, path, attempt, message, created_at
    )
    select 'apr_' || md5(id), ${companyId}, ${workflowId}, id, 'a', 'a', '1', 'Go on?', now()
    from ${ids}
  `);
  await database.query(sql.type(nothing)`
    insert into runs.concurrency_slots (run_id, workflow_id, run_limit, held)
    select id, ${workflowId}, 1, true from ${ids}
  `);
}

interface FencedId {
  runId: string;
  fence: number;
}

/** The statements that write several rows at once, given the runs in any order. */
const WRITERS: Record<string, (transaction: Transaction, leases: FencedId[]) => Promise<unknown>> =
  {
    async checkpoint(transaction, leases) {
      const settlements = leases.map((lease) => ({ ...lease, next: "keep" as const, forMs: null }));
      const held = {
        by: "itself",
        ctes: heldTasksCte(settlements),
        settle: settleTasksCte(LEASE_MS),
      } as const;
      const entries = await entriesOf(transaction, idsOf(leases));
      await writeCheckpoints(
        transaction,
        held,
        leases.map((lease) => checkpointOf(lease, entries.get(lease.runId) ?? 0)),
      );
      await cancelWaitingApprovals(transaction, idsOf(leases));
    },
    checkpointElsewhere: (transaction, leases) => lockAcquired(transaction, leases),
    acquire: (transaction, leases) => acquireRuns(transaction, leases, beginTasksCte(leases)),
    wake: (transaction, leases) => wakeTasks(transaction, idsOf(leases)),
    extend: (transaction, leases) => extendLeases(transaction, leases, LEASE_MS),
    giveBack: (transaction, leases) => giveBackLeases(transaction, leases, 0),
    postpone: (transaction, leases) => postponeLeases(transaction, leases),
    disown: (transaction, leases) => disownTasks(transaction, "one", idsOf(leases)),
    async cancel(transaction, leases) {
      await deleteTasks(transaction, idsOf(leases));
      await cancelRuns(transaction, idsOf(leases));
      await cancelWaitingApprovals(transaction, idsOf(leases));
      await deleteSlots(transaction, idsOf(leases));
    },
  };

function idsOf(leases: readonly FencedId[]): string[] {
  return leases.map(({ runId }) => runId);
}

/** The entries that the journals of runs are at. */
async function entriesOf(
  transaction: Transaction,
  runIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await transaction.any(sql.type(entryRow)`
    select id, journal_entry as entry from runs.runs where id = any(${sql.array([...runIds], "text")})
  `);
  return new Map(rows.map(({ id, entry }) => [id, entry]));
}

function checkpointOf(lease: FencedId, after: number) {
  return {
    lease,
    after,
    run: {
      status: "running" as const,
      startedAt: null,
      completedAt: null,
      output: null,
      error: null,
      activeMs: 0,
      activeForMs: null,
    },
    results: [],
    events: [],
  };
}

/** All of them, in an order of their own each time. */
function shuffled(): FencedId[] {
  return runIds
    .map((runId) => ({ runId, fence: FENCE, at: Math.random() }))
    .toSorted((left, right) => left.at - right.at)
    .map(({ runId, fence }) => ({ runId, fence }));
}

it("writers of the same rows in opposing orders wait for each other and never in a circle", async () => {
  const states: string[] = [];
  const rollBack = new Error("rolled back");
  const write = async (work: (typeof WRITERS)[string]): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      try {
        // Nothing is kept, so that each of them finds all rows each time.
        await database.transaction(async (transaction) => {
          await work(transaction, shuffled());
          throw rollBack;
        });
      } catch (error) {
        if (error !== rollBack) states.push(sqlStateOf(error) ?? String(error));
      }
    }
  };
  await Promise.all(Object.values(WRITERS).map(write));
  expect(states).toEqual([]);
});
