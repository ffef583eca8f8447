import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase, waitFor } from "@workflow/testkit";
import { z } from "zod";
import { setRetentionPolicy } from "../src/store/retention-policies.ts";
import {
  delay,
  listRequest,
  mapping,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";
import { partitionEnds, partitionSince, storeRuns } from "./support/stored-runs.ts";
import type { StoredRuns } from "./support/stored-runs.ts";

/** D58: runs are kept for 90 days here, as in production, unless a company says otherwise. */
const DAYS = 90;

const scope = createScope();
let database: Database;
let databaseUrl: string;

beforeAll(async () => {
  const testDatabase = await createTestDatabase();
  scope.defer(() => testDatabase.close());
  databaseUrl = testDatabase.connectionUri;
  database = await openDatabase({ connectionUri: databaseUrl, applicationName: "test" });
  scope.defer(() => database.end());
});
beforeEach(() => partitionSince(database, 8));
afterAll(() => scope.close());

/** Each test has a service of its own, so that no other service removes its rows. */
let running = createScope();
afterEach(async () => {
  await running.close();
  running = createScope();
});

const countRow = z.object({ runs: z.number(), results: z.number(), approvals: z.number() });

/** The number of stored rows, of a company and of all. */
function countStored(companyId: string) {
  return database.one(sql.type(countRow)`
    select
      (select count(*)::integer from runs.runs where company_id = ${companyId}) as runs,
      (select count(*)::integer from runs.step_results
        where run_id in (select id from runs.runs where company_id = ${companyId})) as results,
      (select count(*)::integer from runs.approvals where company_id = ${companyId}) as approvals
  `);
}

const DAY_MS = 86_400_000;

/** The start of the month that was so many months ago. */
function startOfMonth(monthsAgo: number): number {
  const now = new Date();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo);
}

/** The days ago between which there are the second and the last but one day of a month, on every date. */
function daysOfMonth(monthsAgo: number): StoredRuns["daysAgo"] {
  const daysSince = (time: number) => (Date.now() - time) / DAY_MS;
  return {
    from: daysSince(startOfMonth(monthsAgo) + DAY_MS),
    to: daysSince(startOfMonth(monthsAgo - 1) - DAY_MS),
  };
}

/** Whether a month still has its partition. */
async function hasMonth(monthsAgo: number): Promise<boolean> {
  const end = startOfMonth(monthsAgo - 1);
  return (await partitionEnds(database)).some((each) => each.getTime() === end);
}

async function countOrphans(): Promise<number> {
  const { count } = await database.one(sql.type(z.object({ count: z.number() }))`
    select
      (select count(*) from runs.step_results where run_id not in (select id from runs.runs))
      + (select count(*) from runs.removed_runs) as count
  `);
  return count;
}

interface Company {
  harness: RunsHarness;
  companyId: string;
  facts: Pick<StoredRuns, "companyId" | "workflowId" | "deploymentId">;
}

/** A company with a deployed workflow, for runs that are stored as executions of long ago. */
async function company(harness: RunsHarness): Promise<Company> {
  const identity = testIdentity();
  const { companyId } = identity;
  const workflowId = await harness.deploy([mapping("a", 1)], { identity });
  const { id } = await database.one(sql.type(z.object({ id: z.string() }))`
    select id from runs.deployments where workflow_id = ${workflowId}
  `);
  return { harness, companyId, facts: { companyId, workflowId, deploymentId: id } };
}

const store = (
  { facts }: Company,
  daysAgo: StoredRuns["daysAgo"],
  more: Partial<StoredRuns> = {},
) => storeRuns(database, { ...facts, count: 1_000, daysAgo, status: "completed", ...more });

const isGone = async ({ harness, companyId }: Company, runId: string) => {
  const identity = testIdentity(companyId);
  const reasons = [
    harness.runs.getRun({ runId }, { identity }),
    harness.runs.cancelRun({ runId }, { identity }),
    harness.runs.retryRun({ runId }, { identity }),
    harness.approvals.listRunApprovals({ runId }, { identity }),
  ].map(async (call) =>
    call.then(
      () => "answered",
      (error: { reason?: string }) => error.reason,
    ),
  );
  return (await Promise.all(reasons)).every((reason) => reason === "NOT_FOUND");
};

async function untilLeft({ companyId }: Company, runs: number): Promise<void> {
  await waitFor(async () => (await countStored(companyId)).runs === runs, {
    timeoutMs: 60_000,
    what: `the old runs of a company to go, but for ${runs}`,
  });
}

/** Lists and starts runs all the time while `work` goes on. The first request that fails ends all of it. */
async function whileCalled(
  harness: RunsHarness,
  [waiting, plain]: readonly [string, string],
  work: (answered: () => number) => Promise<void>,
): Promise<void> {
  const stopping = new AbortController();
  let answered = 0;
  const request = (nth: number): Promise<unknown> => {
    const { identity } = harness;
    if (nth % 4 === 0) return harness.runs.listRuns(listRequest(), { identity });
    return harness.runToEnd(nth % 4 === 1 ? waiting : plain);
  };
  const call = async (first: number): Promise<void> => {
    for (let nth = first; !stopping.signal.aborted; nth += 1) {
      await request(nth);
      answered += 1;
    }
  };
  const callers = Promise.all(Array.from({ length: 4 }, (_, nth) => call(nth)));
  try {
    await Promise.race([work(() => answered), callers]);
  } finally {
    stopping.abort();
  }
  await callers;
}

describe("retention", () => {
  it("removes by partition, by company and around live runs, and leaves no trace", async () => {
    const idle = await startRunsHarness({ databaseUrl });
    const [usual, brief, lasting] = [await company(idle), await company(idle), await company(idle)];
    await setRetentionPolicy(database, brief.companyId, 7);
    await setRetentionPolicy(database, lasting.companyId, 0);
    // Five months ago is more than 90 days ago, whatever today's date is.
    const [wholeMonth, keptMonth, liveMonth] = [7, 6, 5];
    const whole = await store(usual, daysOfMonth(wholeMonth));
    const young = await store(usual, { from: 80, to: 1 });
    const kept = await store(lasting, daysOfMonth(keptMonth), { count: 10 });
    const besideKept = await store(usual, daysOfMonth(keptMonth));
    const one = { count: 1, status: "pending" } as const;
    const [live = ""] = await store(usual, daysOfMonth(liveMonth), one);
    const besideLive = await store(usual, daysOfMonth(liveMonth));
    const briefOld = await store(brief, { from: 60, to: 8 });
    const briefYoung = await store(brief, { from: 6, to: 1 });
    await idle.close();

    const harness = await startRunsHarness({
      databaseUrl,
      runRetentionDays: DAYS,
      runRetentionIntervalMs: 100,
    });
    running.defer(() => harness.close());
    const of = (each: Company): Company => ({ ...each, harness });
    await untilLeft(usual, young.length + 1);
    await untilLeft(brief, briefYoung.length);
    await waitFor(async () => (await countOrphans()) === 0);

    // A whole month is removed as a partition, unless it holds a run that is kept.
    expect(await hasMonth(wholeMonth)).toBe(false);
    expect(await hasMonth(keptMonth)).toBe(true);
    expect(await hasMonth(liveMonth)).toBe(true);

    for (const ids of [whole, besideKept, besideLive]) {
      expect(await isGone(of(usual), ids[0] ?? "")).toBe(true);
      expect(await isGone(of(usual), ids.at(-1) ?? "")).toBe(true);
    }
    expect(await isGone(of(brief), briefOld.at(-1) ?? "")).toBe(true);
    for (const [each, runId = ""] of [
      [lasting, kept[0]],
      [usual, young[0]],
      [usual, live],
      [brief, briefYoung[0]],
    ] as const) {
      const run = await harness.runs.getRun({ runId }, { identity: testIdentity(each.companyId) });
      expect(run.stepResults).toHaveLength(2);
    }
    expect(await countStored(lasting.companyId)).toEqual({ runs: 10, results: 20, approvals: 10 });
    expect(await countStored(usual.companyId)).toEqual({
      runs: young.length + 1,
      results: 2 * (young.length + 1),
      approvals: young.length + 1,
    });

    // Only this run has kept the month.
    await harness.runs.cancelRun({ runId: live }, { identity: testIdentity(usual.companyId) });
    await waitFor(async () => !(await hasMonth(liveMonth)), {
      timeoutMs: 60_000,
      what: "the month of the run that was alive to go",
    });
    expect(await isGone(of(usual), live)).toBe(true);
  });

  it("removes versions that no run names, but never the newest", async () => {
    const harness = await startRunsHarness({ databaseUrl });
    const identity = testIdentity();
    const workflowId = newUuid();
    for (const revision of [1, 2, 3]) {
      await harness.deploy([mapping("a", revision)], { identity, workflowId, revision });
    }
    const deployments = await database.any(
      sql.type(z.object({ id: z.string(), revision: z.number() }))`
        update runs.deployments set created_at = now() - interval '200 days'
        where workflow_id = ${workflowId}
        returning id, revision
      `,
    );
    const idOf = (revision: number) =>
      deployments.find((each) => each.revision === revision)?.id ?? "";
    const facts = {
      companyId: identity.companyId,
      workflowId,
      count: 10,
      status: "completed",
    } as const;
    // With the policies of earlier tests the service removes empty months, of which it may leave parts when it stops.
    await harness.close();
    await partitionSince(database, 8);
    await storeRuns(database, { ...facts, deploymentId: idOf(1), daysAgo: { from: 140, to: 139 } });
    await storeRuns(database, { ...facts, deploymentId: idOf(2), daysAgo: { from: 2, to: 1 } });
    const removing = await startRunsHarness({
      databaseUrl,
      runRetentionDays: DAYS,
      runRetentionIntervalMs: 100,
    });
    running.defer(() => removing.close());
    const left = () =>
      database.anyFirst(sql.type(z.object({ id: z.string() }))`
        select id from runs.deployments where workflow_id = ${workflowId} order by revision
      `);
    await waitFor(async () => (await left()).length === 2, { timeoutMs: 60_000 });
    expect(await left()).toEqual([idOf(2), idOf(3)]);
  });

  it("takes a partition away while requests come, of which none fails", async () => {
    const harness = await startRunsHarness({
      databaseUrl,
      runRetentionDays: DAYS,
      runRetentionIntervalMs: 100,
    });
    running.defer(() => harness.close());
    const { companyId } = harness.identity;
    const workflowId = await harness.deploy([mapping("a", 1)]);
    const waiting = await harness.deploy([delay("a", 5)]);
    const { id: deploymentId } = await database.one(sql.type(z.object({ id: z.string() }))`
      select id from runs.deployments where workflow_id = ${workflowId}
    `);
    const facts = { companyId, workflowId, deploymentId };
    // A live run keeps its month until requests are on their way.
    const daysAgo = daysOfMonth(5);
    const [live = ""] = await storeRuns(database, {
      ...facts,
      count: 1,
      daysAgo,
      status: "pending",
    });
    await storeRuns(database, { ...facts, count: 2_000, daysAgo, status: "completed" });
    expect(await hasMonth(5)).toBe(true);
    await whileCalled(harness, [waiting, workflowId], async (answered) => {
      const within = { timeoutMs: 60_000 };
      await waitFor(() => answered() > 20, within);
      await harness.runs.cancelRun({ runId: live }, { identity: harness.identity });
      await waitFor(async () => !(await hasMonth(5)), {
        ...within,
        what: "the partition to go",
      });
      const answeredThen = answered();
      await waitFor(() => answered() > answeredThen + 20, within);
    });
    expect(await isGone({ harness, companyId, facts }, live)).toBe(true);
  });
});

describe("partitions", () => {
  it("are there for the months to come, made by the service that starts first", async () => {
    await database.query(sql.type(z.object({}))`
      do $$
      declare part record;
      begin
        for part in select name from runs.list_partitions('runs') order by to_id desc limit 2 loop
          execute format('drop table runs.%I', part.name);
          execute format('drop table runs.%I', 'child_' || part.name);
          execute format('drop table runs.%I', replace(part.name, 'runs_', 'step_results_'));
        end loop;
      end $$
    `);
    const harnesses = await Promise.all([
      startRunsHarness({ databaseUrl, role: "all" }),
      startRunsHarness({ databaseUrl, role: "all" }),
    ]);
    const last = (await partitionEnds(database)).at(-1);
    expect(last?.getTime()).toBeGreaterThan(Date.now() + 89 * 86_400_000);
    await Promise.all(harnesses.map((each) => each.close()));
  });
});
