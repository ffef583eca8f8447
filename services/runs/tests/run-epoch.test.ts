import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { createTestDatabase, startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import type { RunningService } from "../src/service.ts";
import { startPostgresProxy } from "./support/postgres-proxy.ts";
import type { PostgresProxy } from "./support/postgres-proxy.ts";
import {
  approval,
  callWorkflow,
  httpStep,
  mapping,
  outputOf,
  parallel,
  resultsOf,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const LEASE_MS = 1_000;

let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
let harness: RunsHarness;
let proxy: PostgresProxy;
let receiver: HttpDouble;
/** Calls of steps that wait for their answer, in the order in which they came. */
let calls: PromiseWithResolvers<object>[] = [];
let workers: RunningService[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  proxy = await startPostgresProxy(testDatabase.connectionUri);
  receiver = await startHttpDouble(() => {
    const call = Promise.withResolvers<object>();
    calls.push(call);
    return call.promise;
  });
  harness = await startRunsHarness({ databaseUrl: testDatabase.connectionUri, role: "api" });
});
afterEach(async () => {
  proxy.thaw();
  for (const call of calls) call.resolve({});
  await Promise.all(workers.map((worker) => worker.stop()));
  calls = [];
  workers = [];
});
afterAll(async () => {
  await harness.close();
  await proxy.close();
  await receiver.close();
  await testDatabase.close();
});

async function startWorker(more: { databaseUrl?: string } = {}): Promise<RunningService> {
  const worker = await harness.startAnother("worker", { leaseMs: LEASE_MS, ...more });
  workers.push(worker);
  return worker;
}

/** A worker that is cut off from the database while the proxy is frozen. */
function startFreezingWorker(): Promise<RunningService> {
  return startWorker({ databaseUrl: proxy.connectionUri });
}

async function waitForCalls(count: number): Promise<void> {
  await waitFor(() => calls.length === count, { timeoutMs: 60_000, what: `${count} calls` });
}

/** The approval of a workflow that waits. */
function waitingApproval(workflowId: string): Promise<{ id: string; runId: string }> {
  const request = { status: ApprovalStatus.WAITING, page: undefined };
  return waitFor(async () => {
    const { approvals } = await harness.approvals.listApprovals(request, {
      identity: harness.identity,
    });
    return approvals.find((each) => each.workflowId === workflowId) ?? null;
  });
}

function approve({ id, runId }: { id: string; runId: string }) {
  return harness.approvals.decideApproval(
    {
      runId,
      approvalId: id,
      decision: ApprovalStatus.APPROVED,
      comment: undefined,
      dataJson: undefined,
    },
    { identity: harness.identity },
  );
}

describe("a worker that comes back to life after its run went to another one", () => {
  it.each(["an approval", "a child run"])(
    "takes back no branch that waits for %s",
    async (waitsFor) => {
      const asking = await harness.deploy([approval("ask")]);
      const call = httpStep("call", `${receiver.url}/slow`);
      const waiting = waitsFor === "an approval" ? approval("ask") : callWorkflow("child", asking);
      const workflowId = await harness.deploy([
        parallel("race", { waits: [waiting], calls: [call] }, { strategy: "wait-any" }),
        mapping("end", "{{steps.race.branches.waits}}"),
      ]);
      const first = await startFreezingWorker();
      const runId = await harness.start(workflowId);
      const asked = await waitingApproval(waitsFor === "an approval" ? workflowId : asking);
      await waitForCalls(1);
      proxy.freeze();
      await startWorker();
      await waitForCalls(2);
      // The branch of the first worker has won, as far as that one knows.
      calls[0]?.resolve({});
      // It learns that its lease is lost only from what it writes, not from a heartbeat.
      proxy.loseAnswersToStatement("task_extend", 1_000);
      proxy.thaw();
      await first.stop();
      proxy.loseAnswersToStatement("task_extend", 0);
      await approve(asked);
      const run = await harness.waitForEnd(runId);
      expect(run.status).toBe(RunStatus.COMPLETED);
      expect(outputOf(run)).not.toBeNull();
      expect(resultsOf(run).find(({ path }) => path.startsWith("race.waits"))).toMatchObject({
        status: "success",
      });
    },
  );
});

describe("the time of a run (D28)", () => {
  const moveBack = async (table: "runs" | "tasks", runId: string): Promise<void> => {
    const nothing = z.object({});
    await harness.database.query(
      table === "runs"
        ? sql.type(nothing)`
            update runs.runs set active_since = active_since - interval '1 hour' where id = ${runId}
          `
        : sql.type(nothing)`
            update runs.tasks set due_at = due_at - interval '1 hour' where run_id = ${runId}
          `,
    );
  };

  it.each([
    ["does not go on while no worker is there", true, RunStatus.COMPLETED],
    ["goes on while a worker that dies later executes it", false, RunStatus.TIMEOUT],
  ])("%s", async (_name, isDown, expected) => {
    const workflowId = await harness.deploy([httpStep("call", `${receiver.url}/slow`)], {
      settings: { timeoutMs: 60_000 },
    });
    await startFreezingWorker();
    const runId = await harness.start(workflowId);
    await waitForCalls(1);
    await harness.waitForRun(workflowId, RunStatus.RUNNING);
    proxy.freeze();
    // An hour passes: the lease ran out at its beginning, or it was kept all the time.
    await moveBack("runs", runId);
    if (isDown) await moveBack("tasks", runId);
    await startWorker();
    if (isDown) {
      await waitForCalls(2);
      calls[1]?.resolve({});
    }
    expect((await harness.waitForEnd(runId)).status).toBe(expected);
  });
});
