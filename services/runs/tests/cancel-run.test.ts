import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { logEvents, startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { delay, expression, httpStep, mapping, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let receiver: HttpDouble;
const hungUp = new Set<string>();

beforeAll(async () => {
  harness = await startRunsHarness();
  await logEvents(harness.database);
  // Never answers: only the caller can end the exchange.
  receiver = await startHttpDouble((request, response) => {
    response.once("close", () => hungUp.add(request.path));
  });
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

const cancel = (runId: string) => harness.runs.cancelRun({ runId }, { identity: harness.identity });

describe("CancelRun", () => {
  const eventsOf = (runId: string) =>
    harness.database.anyFirst(
      sql.type(z.object({ type: z.string() }))`
        select type from runs.event_log where payload->'data'->>'runId' = ${runId} order by seq
      `,
    );

  it("stops a call that a step is in the middle of", async () => {
    const workflowId = await harness.deploy([
      httpStep("call", `${receiver.url}/cancelled`),
      mapping("never", 1),
    ]);
    const runId = await harness.start(workflowId);
    await waitFor(() => receiver.requests.some(({ path }) => path === "/cancelled"));
    const cancelled = await cancel(runId);
    expect(cancelled).toMatchObject({ id: runId, status: RunStatus.CANCELLED, error: undefined });
    expect(cancelled.completedAt).toBeInstanceOf(Date);
    await waitFor(() => hungUp.has("/cancelled"), { what: "the connection to be closed" });
    const run = await harness.get(runId);
    expect(run).toMatchObject({ status: RunStatus.CANCELLED, outputJson: undefined });
    expect(run.stepResults).toEqual([]);
  });

  it("ends a suspended run and keeps the results that it has", async () => {
    const workflowId = await harness.deploy([mapping("a", "kept"), delay("wait", 60_000)]);
    const runId = await harness.start(workflowId);
    await harness.waitForRun(workflowId, RunStatus.SUSPENDED);
    // The answer itself loads no results (D56).
    expect(await cancel(runId)).toMatchObject({ status: RunStatus.CANCELLED, stepResults: [] });
    const run = await harness.get(runId);
    expect(run.stepResults).toMatchObject([{ path: "a", outputJson: '"kept"' }]);
    expect(await eventsOf(runId)).toEqual(["workflow.started", "workflow.cancelled"]);
  });

  it("ends a run that no worker has begun", async () => {
    const api = await startRunsHarness({ role: "api" });
    const workflowId = await api.deploy([mapping("a", 1)]);
    const runId = await api.start(workflowId);
    const run = await api.runs.cancelRun({ runId }, { identity: api.identity });
    expect(run).toMatchObject({ status: RunStatus.CANCELLED, startedAt: undefined });
    await api.startAnother("worker");
    // The worker that comes too late finds the next run instead.
    await api.runToEnd(workflowId);
    expect((await api.get(runId)).status).toBe(RunStatus.CANCELLED);
    await api.close();
  });

  it("refuses a run that has ended and says how", async () => {
    const completed = await harness.runToEnd(await harness.deploy([mapping("a", 1)]));
    const failed = await harness.runToEnd(await harness.deploy([expression("a", '$error("")')]));
    for (const [run, currentStatus] of [
      [completed, "completed"],
      [failed, "failed"],
    ] as const) {
      await expect(cancel(run.id)).rejects.toMatchObject({
        reason: "INVALID_STATE",
        details: { currentStatus },
      });
      expect(await harness.get(run.id)).toEqual(run);
    }
  });

  it("succeeds for exactly one of 20 simultaneous callers", async () => {
    const workflowId = await harness.deploy([delay("wait", 60_000)]);
    const runId = await harness.start(workflowId);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => cancel(runId)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") {
        expect(outcome.reason).toMatchObject({
          reason: "INVALID_STATE",
          details: { currentStatus: "cancelled" },
        });
      }
    }
    const events = await eventsOf(runId);
    expect(events.filter((type) => type === "workflow.cancelled")).toHaveLength(1);
  });

  it("and completion end a run once, whichever comes first, a hundred times", async () => {
    const workflowId = await harness.deploy([mapping("a", 1), mapping("b", 2)]);
    const outcomes = new Map<string, RunStatus>();
    const race = async (index: number): Promise<void> => {
      const runId = await harness.start(workflowId);
      for (let turn = 0; turn < index % 10; turn++) await harness.get(runId);
      await cancel(runId).catch(() => {});
      outcomes.set(runId, (await harness.waitForEnd(runId)).status);
    };
    for (let index = 0; index < 100; index += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, offset) => race(index + offset)));
    }
    for (const [runId, status] of outcomes) {
      const ended = (await eventsOf(runId)).filter((type) => type !== "workflow.started");
      expect(ended).toEqual([
        status === RunStatus.CANCELLED ? "workflow.cancelled" : "workflow.completed",
      ]);
      expect((await harness.get(runId)).status).toBe(status);
    }
    const left = await harness.database.oneFirst(
      sql.type(z.object({ count: z.number() }))`
        select count(*)::int as count from runs.tasks
        where run_id = any(${sql.array([...outcomes.keys()], "text")})
      `,
    );
    expect(left).toBe(0);
  });
});
