import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { createMetricsRegistry, startMetricsServer } from "@workflow/service";
import { freePort, startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

/*
 * A worker with one slot finds: a task whose worker was lost, which then holds the slot; two that have been
 * due for two minutes; three of another worker, one of them postponed.
 */
const registry = createMetricsRegistry();
const { promise: released, resolve: release } = Promise.withResolvers<void>();
let harness: RunsHarness;
let receiver: HttpDouble;
let metrics: Awaited<ReturnType<typeof startMetricsServer>>;

beforeAll(async () => {
  receiver = await startHttpDouble(async () => {
    await released;
    return { body: "ok" };
  });
  harness = await startRunsHarness({ role: "api" });
  const config = { method: "GET", url: receiver.url };
  const workflowId = await harness.deploy([
    { id: "call", type: "action", name: "call", action: "http.request", config },
  ]);
  const ids: string[] = [];
  for (let count = 0; count < 6; count += 1) ids.push(await harness.start(workflowId));
  const [lost = "", ...rest] = ids;
  const put = (runIds: string[], workerId: string | null, dueInS: number, attempts: number) =>
    harness.database.query(sql.type(z.object({}))`
      update runs.tasks
      set worker_id = ${workerId}, begun = ${workerId !== null},
        due_at = now() + ${dueInS} * interval '1 second', attempts = ${attempts}
      where run_id = any(${sql.array(runIds, "text")})
    `);
  await put([lost], "lost", -600, 0);
  await put(rest.slice(0, 2), null, -120, 0);
  await put(rest.slice(2, 4), "another", 600, 0);
  await put(rest.slice(4), "another", 40, 3);
  metrics = await startMetricsServer({ host: "127.0.0.1", port: await freePort() }, registry);
  await harness.startAnother("worker", { metricsRegistry: registry, workerConcurrency: 1 });
});
afterAll(async () => {
  release();
  await harness.close();
  await receiver.close();
  await metrics?.close();
});

/** A value as Prometheus reads it; undefined when the metric is not shown. */
async function valueOf(series: string): Promise<number | undefined> {
  const response = await fetch(`http://127.0.0.1:${metrics?.port}/metrics`);
  const line = (await response.text()).split("\n").find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describe("the metrics of a worker", () => {
  it.each([
    ["claims", "runs_claims_total", 1],
    ["what they took", "runs_claimed_tasks_total", 1],
    ["take-overs", "runs_takeovers_total", 1],
    ["its slots", "runs_worker_slots", 1],
    ["those that are taken", "runs_worker_slots_taken", 1],
    ["how many companies have slots", "runs_worker_companies", 1],
    ["how many the largest of them has", "runs_worker_slots_of_largest_company", 1],
    ["what is due", "runs_due_tasks", 2],
    ["what is postponed", "runs_postponed_tasks", 1],
    ["live runs that have not begun", 'runs_live{status="pending"}', 6],
    ["live runs that wait", 'runs_live{status="suspended"}', 0],
    ["what waits to be published", 'outbox_unpublished_events{schema="runs",stream="runs"}', 0],
    ["expressions that wait", 'expressions_waiting{pool="runs"}', 0],
    ["evaluations", 'expressions_running{pool="runs"}', 0],
    ["how long expressions wait", 'expressions_oldest_wait_seconds{pool="runs"}', 0],
    ["rows that were apart", 'runs_reconciled_total{kind="run_without_task"}', 0],
  ])("tell of %s", async (_, series, value) => {
    // Figures that are measured at intervals may be older than the worker.
    await waitFor(async () => expect(await valueOf(series)).toBe(value), {
      what: `${series} ${value}`,
      timeoutMs: 60_000,
    });
  });

  it("tell for how long the oldest task has been due, and no more often than now and then", async () => {
    const series = "runs_oldest_due_task_age_seconds";
    const age = await waitFor(
      async () => {
        const value = (await valueOf(series)) ?? 0;
        // The task whose worker was lost is older, until it is claimed.
        return value >= 120 && value < 600 ? value : null;
      },
      { what: "two minutes", timeoutMs: 60_000 },
    );
    expect(age).toBeLessThan(300);
  });

  it("tell what the journal writes, how large it is and how long it takes", async () => {
    const entries = "runs_journal_batch_entries";
    await waitFor(async () => expect(await valueOf(`${entries}_sum`)).toBeGreaterThanOrEqual(1));
    expect(await valueOf("runs_journal_batch_bytes_count")).toBeGreaterThanOrEqual(1);
    expect(await valueOf("runs_journal_write_duration_seconds_count")).toBeGreaterThanOrEqual(1);
  });

  it("hide what cannot be measured, and show it again", async () => {
    const rename = (from: string, to: string) =>
      harness.database.query(
        sql.type(z.object({}))`
          alter table ${sql.identifier(["runs", from])} rename to ${sql.identifier([to])}
        `,
      );
    const figures = ["runs_oldest_due_task_age_seconds", "runs_due_tasks", "runs_postponed_tasks"];
    const shown = () =>
      Promise.all(figures.map(async (each) => (await valueOf(each)) !== undefined));
    await rename("tasks", "tasks_away");
    try {
      await waitFor(async () => expect(await shown()).toEqual([false, false, false]), {
        what: "no figures",
        timeoutMs: 60_000,
      });
    } finally {
      await rename("tasks_away", "tasks");
    }
    await waitFor(async () => expect(await shown()).toEqual([true, true, true]), {
      what: "figures again",
      timeoutMs: 60_000,
    });
  });
});
