import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { createMetricsRegistry } from "@workflow/service";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { listPoolRules, measurePools, removePoolRule, setPoolRule } from "../src/admin.ts";
import type { RunningService } from "../src/service.ts";
import { mapping, startRequest, startRunsHarness, testIdentity } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

/*
 * Which workers execute which runs (ADR 63). The API stores runs, and workers of two pools run beside
 * it.
 */

const TIMEOUT_MS = 120_000;
const POOL = "heavy";
const TAG = "night";
const other = testIdentity();
const steps = [mapping("a", 1)];
const waiting = { id: "pause", type: "delay", name: "pause", config: { durationMs: 7_000 } };

let harness: RunsHarness;
beforeEach(async () => {
  // No worker runs until a test starts one.
  harness = await startRunsHarness({ role: "api" });
});
afterEach(() => harness.close());

function startWorker(workerPool?: string): Promise<RunningService> {
  const bus = createInProcessEventBus({ consumers: {} });
  return harness.startAnother("worker", { bus, workerPool });
}

const rule = (tag: string | null = null) => ({ companyId: harness.identity.companyId, tag });

/** The pool whose workers may claim a run; null when it has ended. */
async function poolOf(runId: string, { database } = harness): Promise<string | null> {
  const row = await database.maybeOne(sql.type(z.object({ pool: z.string() }))`
    select pool from runs.tasks where run_id = ${runId}
  `);
  return row?.pool ?? null;
}

/** Waits until the API knows the rules, and stores a run of the workflow for this pool. */
async function untilRouted(workflowId: string, pool: string): Promise<void> {
  await waitFor(async () => (await poolOf(await harness.start(workflowId))) === pool, {
    intervalMs: 250,
  });
}

/** Starts a run of the other company, which no rule covers, and waits for its end. */
async function runOther(workflowId: string): Promise<RunStatus | undefined> {
  const request = { ...startRequest(workflowId), waitMs: 60_000 };
  const { run } = await harness.runs.startRun(request, { identity: other });
  return run?.status;
}

const statusOf = async (runId: string) => (await harness.get(runId)).status;

describe("the runs of a company with a rule", () => {
  it(
    "are executed by its pool only, though the other one is idle, and those of others are not",
    async () => {
      await setPoolRule(harness.database, { ...rule(), pool: POOL });
      const workflowId = await harness.deploy(steps);
      const otherId = await harness.deploy(steps, { identity: other });
      await untilRouted(workflowId, POOL);

      const usual = await startWorker();
      const routed = await harness.start(workflowId);
      // Stored later, and done: the worker was idle, and had seen what is due.
      expect(await runOther(otherId)).toBe(RunStatus.COMPLETED);
      expect(await runOther(otherId)).toBe(RunStatus.COMPLETED);
      expect(await statusOf(routed)).toBe(RunStatus.PENDING);
      const due = await measurePools(harness.database, { limit: 100 });
      expect(due.map(({ pool }) => pool)).toEqual(["default", POOL]);
      expect(due.find(({ pool }) => pool === POOL)?.due).toBeGreaterThan(0);

      await usual.stop();
      await startWorker(POOL);
      expect(await harness.waitForEnd(routed)).toMatchObject({ status: RunStatus.COMPLETED });
      const { run } = await harness.runs.startRun(startRequest(otherId), { identity: other });
      const again = await harness.start(workflowId);
      expect(await harness.waitForEnd(again)).toMatchObject({ status: RunStatus.COMPLETED });
      const left = await harness.runs.getRun({ runId: run?.id ?? "" }, { identity: other });
      expect(left.status).toBe(RunStatus.PENDING);
    },
    TIMEOUT_MS,
  );

  it(
    "may be those of its workflows with a tag, in place of the rule for all of them",
    async () => {
      await setPoolRule(harness.database, { ...rule(), pool: "other" });
      await setPoolRule(harness.database, { ...rule(TAG), pool: POOL });
      expect(await listPoolRules(harness.database)).toEqual([
        { ...rule(TAG), pool: POOL },
        { ...rule(), pool: "other" },
      ]);
      const tagged = await harness.deploy(steps, { settings: { tags: ["x", TAG] } });
      const plain = await harness.deploy(steps);
      await untilRouted(tagged, POOL);
      expect(await poolOf(await harness.start(plain))).toBe("other");
      await startWorker(POOL);
      expect(await harness.runToEnd(tagged)).toMatchObject({ status: RunStatus.COMPLETED });
    },
    TIMEOUT_MS,
  );

  it(
    "are not handed over within a process that works for another pool",
    async () => {
      // One process takes requests and executes runs, unlike in the other half of these tests.
      const both = await startRunsHarness({ role: "all", identity: harness.identity });
      try {
        await setPoolRule(both.database, { ...rule(), pool: POOL });
        const workflowId = await both.deploy(steps);
        const runId = await waitFor(
          async () => {
            const started = await both.start(workflowId);
            return (await poolOf(started, both)) === POOL ? started : null;
          },
          { intervalMs: 250, what: "a run to be stored for the other pool" },
        );
        const otherId = await both.deploy(steps, { identity: other });
        const request = { ...startRequest(otherId), waitMs: 60_000 };
        const { run } = await both.runs.startRun(request, { identity: other });
        expect(run?.status).toBe(RunStatus.COMPLETED);
        expect((await both.get(runId)).status).toBe(RunStatus.PENDING);
      } finally {
        await both.close();
      }
    },
    TIMEOUT_MS,
  );
});

describe("a pool without workers", () => {
  it(
    "delays no other one, however much is due in it, and gives its work back when the rule goes",
    async () => {
      const DUE = 2_000;
      await setPoolRule(harness.database, { ...rule(), pool: POOL });
      const workflowId = await harness.deploy(steps);
      const otherId = await harness.deploy(steps, { identity: other });
      await untilRouted(workflowId, POOL);
      const first = await harness.start(workflowId);
      await harness.database.query(sql.type(z.object({}))`
        with stored as (
          insert into runs.runs (
            id, company_id, workflow_id, deployment_id, workflow_version, trigger_type, input,
            created_at
          )
          select 'run_' || lpad(n::text, 26, '0'), company_id, workflow_id, deployment_id,
            workflow_version, trigger_type, input, created_at
          from runs.runs, generate_series(1, ${DUE}) as n
          where id = ${first}
          returning id, company_id
        )
        insert into runs.tasks (run_id, company_id, due_at, pool)
        select id, company_id, now() - interval '1 minute', ${POOL} from stored
      `);
      await startWorker();
      for (let round = 0; round < 3; round += 1) {
        expect(await runOther(otherId)).toBe(RunStatus.COMPLETED);
      }
      expect(await statusOf(first)).toBe(RunStatus.PENDING);

      expect(await removePoolRule(harness.database, rule())).toBe(POOL);
      const unended = sql.type(z.object({ count: z.number() }))`
        select count(*)::integer as count from runs.runs where completed_at is null
      `;
      await waitFor(async () => (await harness.database.one(unended)).count === 0, {
        timeoutMs: TIMEOUT_MS,
      });
      expect(await statusOf(first)).toBe(RunStatus.COMPLETED);
    },
    2 * TIMEOUT_MS,
  );

  it(
    "takes over runs that rest, from their next step on",
    async () => {
      const workflowId = await harness.deploy([waiting, ...steps]);
      const usual = await startWorker();
      const runId = await harness.start(workflowId);
      await waitFor(async () => (await statusOf(runId)) === RunStatus.SUSPENDED);
      await setPoolRule(harness.database, { ...rule(), pool: POOL });
      await waitFor(async () => (await poolOf(runId)) === POOL, { timeoutMs: 60_000 });
      await usual.stop();
      await startWorker(POOL);
      expect(await harness.waitForEnd(runId)).toMatchObject({ status: RunStatus.COMPLETED });
    },
    TIMEOUT_MS,
  );
});

describe("the metrics of a worker of a pool", () => {
  it(
    "have a series of that pool before it has tasks or rules, and of a pool that nobody serves",
    async () => {
      const metricsRegistry = createMetricsRegistry();
      const bus = createInProcessEventBus({ consumers: {} });
      await setPoolRule(harness.database, { ...rule(), pool: "mispelt" });
      await harness.startAnother("worker", { bus, workerPool: POOL, metricsRegistry });
      const poolsOf = async (name: string): Promise<Record<string, number>> => {
        const series = await metricsRegistry.getSingleMetric(name)?.get();
        const values = series?.values ?? [];
        return Object.fromEntries(values.map(({ labels, value }) => [labels["pool"], value]));
      };
      const age = "runs_pool_oldest_due_task_age_seconds";
      await waitFor(
        async () => expect(await poolsOf(age)).toEqual({ default: 0, [POOL]: 0, mispelt: 0 }),
        { timeoutMs: 60_000, what: "a series of each pool" },
      );
      expect(await poolsOf("runs_pool_workers")).toEqual({ [POOL]: 1 });
    },
    TIMEOUT_MS,
  );
});
