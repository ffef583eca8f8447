import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { WorkflowClient } from "@workflow/client";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { clientOf } from "../support/client.ts";
import {
  createActive,
  delay,
  failing,
  getRun,
  runToEnd,
  startRun,
  transform,
  waitForRun,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let client: WorkflowClient;
let outside: HttpDouble;

beforeAll(async () => {
  // Requests of /stall are never answered.
  outside = await startHttpDouble(({ path }) => (path === "/stall" ? undefined : {}));
  system = await startWholeSystem();
  client = clientOf(system);
});
afterAll(async () => {
  await system.stop();
  await outside.close();
});

const INVALID_STATE = { name: "ApiError", status: 400, code: "INVALID_STATE" };

function request(id: string, path: string) {
  return {
    id,
    type: "action",
    name: id,
    action: "http.request",
    config: { method: "POST", url: outside.url + path },
  };
}

async function expectCancelled(runId: string): Promise<void> {
  const answer = await client.runs.cancel(runId);
  expect(answer).toEqual({ id: runId, status: "cancelled", message: expect.any(String) });
  const run = await client.runs.get(runId);
  expect(run).toMatchObject({ status: "cancelled", output: null });
  expect(run.completedAt).not.toBeNull();
}

describe("POST /runs/{id}/cancel", () => {
  it("ends a run that has only just been accepted", async () => {
    const id = await createActive(system, { steps: [delay("sleep", 3_000)] });
    for (let time = 0; time < 10; time += 1) await expectCancelled(await startRun(system, id));
  });

  it("ends a run that is suspended", async () => {
    const id = await createActive(system, { steps: [delay("sleep", 60_000), transform("out", 1)] });
    const runId = await startRun(system, id);
    await waitForRun(system, runId, ["suspended"]);
    await expectCancelled(runId);
  });

  it("ends a run in the middle of a step, breaks off its request and begins no other", async () => {
    const id = await createActive(system, {
      steps: [request("first", "/fine"), request("second", "/stall"), request("third", "/fine")],
    });
    const runId = await startRun(system, id);
    await waitFor(() =>
      outside.requests.some(({ idempotencyKey }) => idempotencyKey === `${runId}:second:1`),
    );
    await expectCancelled(runId);
    const marker = await createActive(system, { steps: [request("marker", "/marker")] });
    expect(await runToEnd(system, marker)).toMatchObject({ status: "completed" });
    const own = outside.requests.filter(({ idempotencyKey }) => idempotencyKey?.startsWith(runId));
    expect(own.map(({ path }) => path)).toEqual(["/fine", "/stall"]);
    const run = await getRun(system, runId);
    expect(run.status).toBe("cancelled");
    expect(run.stepResults[0]).toMatchObject({ stepId: "first", status: "success" });
  });

  it.each(["completed", "failed", "cancelled", "timeout"] as const)(
    "of a run that is %s is refused and changes nothing",
    async (status) => {
      const steps = {
        completed: [transform("out", 1)],
        failed: [failing("call")],
        cancelled: [delay("sleep", 60_000)],
        timeout: [request("ask", "/stall")],
      }[status];
      const settings = status === "timeout" ? { timeoutMs: 50 } : {};
      const runId = await startRun(system, await createActive(system, { steps, settings }));
      if (status === "cancelled") await client.runs.cancel(runId);
      const before = await waitForRun(system, runId, [status]);
      await expect(client.runs.cancel(runId)).rejects.toMatchObject(INVALID_STATE);
      expect(await getRun(system, runId)).toEqual(before);
    },
  );

  it("of twenty at the same time succeeds once", async () => {
    const id = await createActive(system, { steps: [delay("sleep", 60_000)] });
    const runId = await startRun(system, id);
    const calls = Array.from({ length: 20 }, () => client.runs.cancel(runId));
    const outcomes = await Promise.allSettled(calls);
    const refused = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [outcome.reason] : [],
    );
    expect(refused).toHaveLength(19);
    for (const reason of refused) expect(reason).toMatchObject(INVALID_STATE);
  });

  it("that races with the run's end agrees with what the run says for good", async () => {
    const id = await createActive(system, { steps: [transform("out", 1)] });
    for (let time = 0; time < 20; time += 1) {
      const runId = await startRun(system, id);
      const [outcome] = await Promise.allSettled([client.runs.cancel(runId)]);
      const run = await waitForRun(system, runId);
      expect(run.status).toBe(outcome.status === "fulfilled" ? "cancelled" : "completed");
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject(INVALID_STATE);
    }
  });

  it.each(["run_00000000000000000000000000", "nonsense"])("of %s is 404", async (runId) => {
    const refusal = { status: 404, code: "NOT_FOUND" };
    await expect(client.runs.cancel(runId)).rejects.toMatchObject(refusal);
  });
});
