import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { createMetricsRegistry } from "@workflow/service";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { z } from "zod";
import { startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const registry = createMetricsRegistry();
let harness: RunsHarness;
beforeAll(async () => {
  harness = await startRunsHarness({ reconcileIntervalMs: 100, metricsRegistry: registry });
});
afterAll(() => harness.close());

const nothing = z.object({});
const delay = (durationMs: number) => ({
  id: "rest",
  type: "delay",
  name: "rest",
  config: { durationMs },
});
const HOUR_MS = 3_600_000;

/** How many mismatched rows of a kind were found so far. */
async function found(kind: string): Promise<number> {
  const text = await registry.getSingleMetricAsString("runs_reconciled_total");
  return Number(new RegExp(`kind="${kind}"} (\\d+)`).exec(text)?.[1]);
}

async function deleteTasks(runIds: readonly string[]): Promise<void> {
  await harness.database.query(sql.type(nothing)`
    delete from runs.tasks where run_id = any(${sql.array([...runIds], "text")})
  `);
}

async function tasksOf(runIds: readonly string[]): Promise<number> {
  const { tasks } = await harness.database.one(sql.type(z.object({ tasks: z.number() }))`
    select count(*)::integer as tasks from runs.tasks
    where run_id = any(${sql.array([...runIds], "text")})
  `);
  return tasks;
}

describe("a live run without a task", () => {
  it("gets one, ends nevertheless and is counted, when it waits", async () => {
    const before = await found("run_without_task");
    const workflowId = await harness.deploy([delay(1_000)]);
    const runId = await harness.start(workflowId);
    await waitFor(async () => (await tasksOf([runId])) === 1, { what: "the task" });
    await deleteTasks([runId]);
    expect(await harness.waitForEnd(runId)).toMatchObject({ status: RunStatus.COMPLETED });
    await waitFor(async () => (await found("run_without_task")) > before, { what: "the count" });
    expect(await tasksOf([runId])).toBe(0);
  });

  it("is not executed by the worker that had it as well", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const calls: string[] = [];
    const receiver = await startHttpDouble(async ({ headers }) => {
      if (calls.push(String(headers["idempotency-key"])) === 1) await released;
      return { status: 200, body: "ok" };
    });
    const config = { method: "POST", url: `${receiver.url}/call` };
    const workflowId = await harness.deploy([
      { id: "call", type: "action", name: "call", action: "http.request", config },
    ]);
    const runId = await harness.start(workflowId);
    await waitFor(() => calls.length === 1, { what: "the first call" });
    await deleteTasks([runId]);
    const run = await harness.waitForEnd(runId);
    release();
    await receiver.close();
    expect(run).toMatchObject({ status: RunStatus.COMPLETED });
    // The same call, made again as after the death of a worker.
    expect(new Set(calls).size).toBe(1);
    expect(run.stepResults).toHaveLength(1);
  });

  it("is found among more than one look takes", async () => {
    const workflowId = await harness.deploy([delay(HOUR_MS)]);
    const runIds: string[] = [];
    for (let batch = 0; batch < 10; batch += 1) {
      const started = Array.from({ length: 32 }, () => harness.start(workflowId));
      runIds.push(...(await Promise.all(started)));
    }
    await waitFor(
      async () => {
        const { parked } = await harness.database.one(sql.type(z.object({ parked: z.number() }))`
          select count(*)::integer as parked from runs.tasks
          where run_id = any(${sql.array(runIds, "text")}) and worker_id is null
            and due_at > now() + interval '10 minutes'
        `);
        return parked === runIds.length;
      },
      { what: "all of them to wait", timeoutMs: 60_000 },
    );
    await deleteTasks(runIds);
    await waitFor(async () => (await tasksOf(runIds)) === runIds.length, {
      what: "all of them to have a task",
      timeoutMs: 60_000,
    });
  });

  it("is looked for by one process at a time", async () => {
    const workflowId = await harness.deploy([delay(HOUR_MS)]);
    const runId = await harness.start(workflowId);
    await harness.waitForRun(workflowId, RunStatus.SUSPENDED);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const other = harness.database.transaction(async (transaction) => {
      await waitFor(async () => {
        const { acquired } = await transaction.one(sql.type(z.object({ acquired: z.boolean() }))`
          select pg_try_advisory_xact_lock(hashtextextended('runs reconcile', 0)) as acquired
        `);
        return acquired;
      });
      await released;
    });
    await waitFor(async () => {
      const { locks } = await harness.database.one(sql.type(z.object({ locks: z.number() }))`
        select count(*)::integer as locks from pg_locks
        where locktype = 'advisory' and granted
          and ((classid::bigint << 32) | objid::bigint) = hashtextextended('runs reconcile', 0)
      `);
      return locks === 1;
    });
    await deleteTasks([runId]);
    // Other rounds of this process do not matter: another process's rounds are enough.
    await harness.runToEnd(await harness.deploy([delay(600)]));
    expect(await tasksOf([runId])).toBe(0);
    release();
    await other;
    await waitFor(async () => (await tasksOf([runId])) === 1, { what: "the task" });
  });
});

describe("what an ended run has left behind", () => {
  async function endedRun(settings: object = {}): Promise<{ workflowId: string; runId: string }> {
    const steps = [{ id: "done", type: "transform", name: "done", config: { mapping: 1 } }];
    const workflowId = await harness.deploy(steps, { settings });
    const { id: runId } = await harness.runToEnd(workflowId);
    return { workflowId, runId };
  }

  it("is removed when it is a task", async () => {
    const { runId } = await endedRun();
    const before = await found("task_without_run");
    await harness.database.query(sql.type(nothing)`
      insert into runs.tasks (run_id, company_id, due_at)
      values (${runId}, ${harness.identity.companyId}, 'infinity')
    `);
    await waitFor(async () => (await tasksOf([runId])) === 0, { what: "the task to go" });
    await waitFor(async () => (await found("task_without_run")) > before, { what: "the count" });
  });

  it("lets the next one in when it is a slot of a limited workflow", async () => {
    const settings = { concurrency: { limit: 1, onLimit: "queue" } };
    const { workflowId, runId } = await endedRun(settings);
    const before = await found("slot_of_ended_run");
    await harness.database.query(sql.type(nothing)`
      insert into runs.concurrency_slots (run_id, workflow_id, run_limit, held)
      values (${runId}, ${workflowId}, 1, true)
    `);
    expect(await harness.runToEnd(workflowId)).toMatchObject({ status: RunStatus.COMPLETED });
    await waitFor(async () => (await found("slot_of_ended_run")) > before, { what: "the count" });
  });

  it("is no longer asked for when it is an approval", async () => {
    const config = { message: "May it?" };
    const workflowId = await harness.deploy([{ id: "ask", type: "approval", name: "ask", config }]);
    const runId = await harness.start(workflowId);
    await harness.waitForRun(workflowId, RunStatus.WAITING_APPROVAL);
    await harness.runs.cancelRun({ runId }, { identity: harness.identity });
    const before = await found("approval_of_ended_run");
    await harness.database.query(sql.type(nothing)`
      update runs.approvals set status = 'waiting', decided_at = null where run_id = ${runId}
    `);
    await waitFor(
      () =>
        harness.database.maybeOne(sql.type(nothing)`
          select from runs.approvals where run_id = ${runId} and status = 'cancelled'
        `),
      { what: "the approval to be cancelled" },
    );
    await waitFor(async () => (await found("approval_of_ended_run")) > before, {
      what: "the count",
    });
  });
});
