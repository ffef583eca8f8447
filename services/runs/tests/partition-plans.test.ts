import { AsyncLocalStorage } from "node:async_hooks";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import { z } from "zod";
import { cancelRuns, listLiveChildren } from "../src/store/end-run.ts";
import {
  findChildOfStep,
  isAwaitedByRunOf,
  listParentsOfOrphans,
} from "../src/store/child-runs.ts";
import { countLiveRuns } from "../src/store/engine-figures.ts";
import { listBusySchedules } from "../src/store/fire-schedules.ts";
import { giveUpChild } from "../src/store/given-up-runs.ts";
import { countResults, listResultHeads } from "../src/store/load-history.ts";
import { listEndedRuns } from "../src/store/list-ended-runs.ts";
import { readPayloads } from "../src/store/read-payloads.ts";
import { listSummaries } from "../src/store/read-runs.ts";
import { makePartitions } from "../src/store/partitions.ts";
import { listEndedWithApproval, listSlots, removeTasksWithoutRun } from "../src/store/reconcile.ts";
import { deleteRemovedResults, deleteRuns } from "../src/store/remove-runs.ts";
import { deleteEndedFamilies } from "../src/store/run-families.ts";
import { listVersions } from "../src/store/watch-runs.ts";
import { deleteResults, deleteResultsInside, lockAcquired } from "../src/store/write-journal.ts";
import { partitionSince, storeRuns } from "./support/stored-runs.ts";

const scope = createScope();
/** The owner of the tables, and the service with its generic plans. */
let owner: Database;
let database: Database;
const [companyId, workflowId, deploymentId] = [newUuid(), newUuid(), newUuid()];
let ended: readonly string[];
let live: readonly string[];

const STORED = 20_000;
const LIVE = 500;
/** What the cases leave behind together, dead versions and index entries included; a partition holds over 3,000 runs. */
const DEAD_MAX = 1_500;
const DAY_MS = 86_400_000;
const nothing = z.object({});
const readRow = z.object({ read: z.number() });

beforeAll(async () => {
  const testDatabase = await createTestDatabase();
  scope.defer(() => testDatabase.close());
  const { connectionUri } = testDatabase;
  owner = await openDatabase({ connectionUri, applicationName: "test" });
  scope.defer(() => owner.end());
  database = await openDatabase({
    connectionUri,
    role: "workflow_runs",
    genericPlans: true,
    maxConnections: 1,
    applicationName: "test",
  });
  scope.defer(() => database.end());
  await partitionSince(owner, 6);
  const facts = { companyId, workflowId, deploymentId };
  ended = await storeRuns(owner, {
    ...facts,
    count: STORED,
    daysAgo: { from: 150, to: 3 },
    status: "completed",
  });
  live = await storeRuns(owner, {
    ...facts,
    count: LIVE,
    daysAgo: { from: 2, to: 0 },
    status: "pending",
  });
  await owner.query(sql.type(nothing)`
    insert into runs.deployments (id, company_id, workflow_id, revision, version, name, trigger, steps)
    values (${deploymentId}, ${companyId}, ${workflowId}, 1, 1, 'Orders', '{"type": "api"}', '[]')
  `);
  await owner.query(sql.type(nothing)`
    insert into runs.child_runs (parent_run_id, parent_step, run_id)
    select id, 'call:1', id from runs.runs
  `);
  await owner.query(sql.type(nothing)`
    insert into runs.run_families (root_run_id, company_id, descendants)
    select id, company_id, 1 from runs.runs where id >= ${live[0] ?? ""}
  `);
  await owner.query(sql.type(nothing)`
    insert into runs.concurrency_slots (run_id, workflow_id, run_limit, held)
    select id, workflow_id, 1, false from runs.runs where id >= ${live[0] ?? ""}
  `);
  await owner.query(sql.type(nothing)`
    update runs.approvals set status = 'waiting', decided_at = null where run_id >= ${live[0] ?? ""}
  `);
  await owner.query(sql.type(nothing)`analyze`);
  // Autovacuum does the same in the end.
  await owner.query(sql.type(nothing)`
    select brin_summarize_new_values(pg_class.oid)
    from pg_class join pg_am on pg_am.oid = relam
    where amname = 'brin' and relkind = 'i'
  `);
});
afterAll(() => scope.close());

/** Rows of all partitions of runs and what lies beside them that were read so far. */
async function countRead(): Promise<number> {
  for (const each of [database, owner]) {
    await each.query(sql.type(nothing)`select pg_stat_force_next_flush()`);
    await each.query(sql.type(nothing)`select`);
  }
  const { read } = await owner.one(sql.type(readRow)`
    select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::float8 as read
    from pg_stat_user_tables
    where schemaname = 'runs' and relname ~ '^(runs|step_results|child_runs)_'
  `);
  return read;
}

const first = () => live[0] ?? "";

describe("a statement over partitions (ADR 31) looks at what it is about, not at what is stored", () => {
  const statements: [string, number, () => Promise<unknown>][] = [
    [
      "an abandoned child",
      1,
      () => database.transaction((tx) => giveUpChild(tx, first(), "call:1")),
    ],
    ["the child of a step", 1, () => findChildOfStep(database, first(), "call:1")],
    ["live children", 1, () => listLiveChildren(database, [first()])],
    ["parents of orphans", LIVE, () => listParentsOfOrphans(database, 100)],
    ["live runs by status", LIVE, () => countLiveRuns(database, 10_000)],
    [
      "payloads",
      10,
      () => {
        const refs = live.slice(0, 10).map((runId) => ({ companyId, runId }));
        return readPayloads(database, refs, { runBytesMax: 1_000, bytesMax: 1_000 });
      },
    ],
    // A block range holds some 1,200 runs; the hour may lie in two of them. A scan would read 20,000.
    [
      "ends of a time",
      800,
      () => {
        const from = new Date(Date.now() - 40 * DAY_MS);
        const before = new Date(from.getTime() + DAY_MS / 24);
        return listEndedRuns(database, {
          companyIds: [companyId],
          from,
          before,
          after: null,
          limit: 100,
        });
      },
    ],
    ["families", LIVE, () => deleteEndedFamilies(database, "", 1_000)],
    [
      "tasks without runs",
      LIVE,
      () => database.transaction((tx) => removeTasksWithoutRun(tx, "", 1_000)),
    ],
    ["slots", LIVE, () => listSlots(database, "", 1_000)],
    ["approvals of ended runs", LIVE, () => listEndedWithApproval(database, [companyId], 500)],
    ["counts of results", 10, () => countResults(database, live.slice(0, 10))],
    ["heads of results", 10, () => listResultHeads(database, live.slice(0, 10), 100)],
    ["summaries", 10, () => listSummaries(database, live.slice(0, 10))],
    ["versions", 10, () => listVersions(database, live.slice(0, 10))],
    ["who waits for a run", 1, () => isAwaitedByRunOf(database, first(), newUuid())],
    ["busy schedules", 1, () => listBusySchedules(database, [newUuid()])],
    ["cancelling", 100, () => database.transaction((tx) => cancelRuns(tx, live.slice(100, 200)))],
    [
      "inner results",
      10,
      () =>
        database.transaction((tx) =>
          deleteResultsInside(
            tx,
            live.slice(20, 30).map((runId) => ({ runId, path: "a" })),
          ),
        ),
    ],
    [
      "results",
      10,
      () =>
        database.transaction((tx) =>
          deleteResults(
            tx,
            live.slice(20, 30).map((runId) => ({ runId, path: "x" })),
          ),
        ),
    ],
    [
      "locking what was acquired",
      10,
      () =>
        database.transaction((tx) =>
          lockAcquired(
            tx,
            live.slice(20, 30).map((runId) => ({ runId, fence: 0 })),
          ),
        ),
    ],
    ["removing runs", 10, () => database.transaction((tx) => deleteRuns(tx, ended.slice(0, 10)))],
    ["removing results", 10, () => database.transaction((tx) => deleteRemovedResults(tx, 1_000))],
  ];

  it.each(statements)("%s", async (_what, rows, run) => {
    const before = await countRead();
    await run();
    // A row, its results and its notes, each found once or twice, and dead versions that cases before left behind.
    expect((await countRead()) - before).toBeLessThanOrEqual(rows * 6 + DEAD_MAX);
  });
});

describe("families whose first run is gone", () => {
  it("are forgotten behind however many that are kept", async () => {
    const gone = "run_zzzzzzzzzz0000000000000000";
    await owner.query(sql.type(nothing)`
      insert into runs.run_families (root_run_id, company_id, descendants)
      values (${gone}, ${companyId}, 1)
    `);
    let afterId: string | null = "";
    while (afterId !== null) afterId = await deleteEndedFamilies(database, afterId, 100);
    const kept = await owner.any(sql.type(z.object({ id: z.string() }))`
      select root_run_id as id from runs.run_families order by 1
    `);
    expect(kept.map(({ id }) => id)).toEqual(live);
  });
});

/** slonik refuses other queries in the context of a transaction. */
const outside = AsyncLocalStorage.snapshot();

describe("partitions of the months to come", () => {
  it("are not waited for where they are there", async () => {
    await owner.transaction(async (transaction) => {
      // A process that drops a large partition holds this lock.
      await transaction.query(sql.type(nothing)`
        select pg_advisory_xact_lock(hashtextextended('runs partitions', 0))
      `);
      await outside(() => makePartitions(database));
    });
  });
});
