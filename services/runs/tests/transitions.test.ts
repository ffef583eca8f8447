import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { isAppError } from "@workflow/errors";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import type { RpcClient } from "@workflow/rpc";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { delay, httpStep, mapping, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";
import { faultsOf, logTransitions, readStory } from "./support/transition-log.ts";

const CLIENTS = 20;
const ROUNDS = 6;

let harness: RunsHarness;
let outside: HttpDouble;
/** Clients of two API processes; two workers execute. */
let clients: readonly RpcClient<typeof RunsServiceService>[];
/** Answers the requests that `outside` holds back. */
let answer: () => void = () => {};

beforeAll(async () => {
  let held: (() => void)[] = [];
  answer = () => {
    for (const release of held) release();
    held = [];
  };
  outside = await startHttpDouble(async ({ path }) => {
    await new Promise<void>((resolve) => held.push(resolve));
    return { status: path === "/bad" ? 400 : 200 };
  });
  harness = await startRunsHarness();
  await logTransitions(harness.database);
  const second = await harness.startAnother("api");
  await harness.startAnother("worker");
  clients = [harness.runs, harness.connect(second)];
});
afterAll(async () => {
  answer();
  await harness.close();
  await outside.close();
});

/** Twenty clients cancel a run within some milliseconds; the number of those who were told yes. */
async function cancelTwentyfold(runId: string, spreadMs: number): Promise<number> {
  const attempts = Array.from({ length: CLIENTS }, async (_, index) => {
    const client = clients[index % clients.length] ?? harness.runs;
    await sleep(Math.random() * spreadMs);
    try {
      const run = await client.cancelRun({ runId }, { identity: harness.identity });
      expect(run.status).toBe(RunStatus.CANCELLED);
      return true;
    } catch (error) {
      if (!isAppError(error)) throw error;
      // Whoever loses hears what the run has become for good.
      const { statuses } = await readStory(harness.database, runId);
      expect(error).toMatchObject({
        reason: "INVALID_STATE",
        details: { currentStatus: statuses.at(-1) },
      });
      return false;
    }
  });
  return (await Promise.all(attempts)).filter(Boolean).length;
}

/** Expects that the run came to one end, lawfully, and that one caller at most was its cause. */
async function expectOneEnd(runId: string, cancels: number, ends: readonly string[]) {
  await harness.waitForEnd(runId);
  const story = await readStory(harness.database, runId);
  expect(faultsOf(story)).toEqual([]);
  const end = story.statuses.at(-1);
  expect(ends).toContain(end);
  expect(cancels).toBe(end === "cancelled" ? 1 : 0);
}

/** Starts runs of the steps one after another; each is raced for by twenty clients. */
async function race(
  ends: readonly string[],
  steps: readonly unknown[],
  compete: (runId: string, workflowId: string) => Promise<number>,
  settings?: unknown,
): Promise<void> {
  const workflowId = await harness.deploy(steps, { settings });
  for (let round = 0; round < ROUNDS; round += 1) {
    const runId = await harness.start(workflowId);
    await expectOneEnd(runId, await compete(runId, workflowId), ends);
  }
}

async function waitForStatus(runId: string, status: RunStatus): Promise<void> {
  await waitFor(async () => (await harness.get(runId)).status === status, { intervalMs: 5 });
}

function waitForCall(path: string, runId: string): Promise<boolean> {
  return waitFor(
    () =>
      outside.requests.some(
        (request) => request.path === path && request.idempotencyKey?.startsWith(runId) === true,
      ),
    { intervalMs: 5 },
  );
}

describe("twenty clients that race for one transition", () => {
  it("pending → cancelled × pending → running → completed", async () => {
    await race(["cancelled", "completed"], [mapping("out", 1)], (runId) =>
      cancelTwentyfold(runId, 15),
    );
  });

  it("running → cancelled × running → completed", async () => {
    await race(
      ["cancelled", "completed"],
      [httpStep("call", `${outside.url}/good`)],
      async (id) => {
        await waitForCall("/good", id);
        setTimeout(answer, 5);
        return cancelTwentyfold(id, 25);
      },
    );
  });

  it("running → cancelled × running → failed", async () => {
    await race(["cancelled", "failed"], [httpStep("call", `${outside.url}/bad`)], async (id) => {
      await waitForCall("/bad", id);
      setTimeout(answer, 5);
      return cancelTwentyfold(id, 25);
    });
  });

  it("running → cancelled × running → timeout", async () => {
    await race(
      ["cancelled", "timeout"],
      [httpStep("call", `${outside.url}/never`)],
      async (id) => {
        await sleep(140);
        return cancelTwentyfold(id, 60);
      },
      { timeoutMs: 180 },
    );
    answer();
  });

  it("running → cancelled × running → suspended", async () => {
    const steps = [httpStep("call", `${outside.url}/good`), delay("sleep", 60_000)];
    await race(["cancelled"], steps, async (id) => {
      await waitForCall("/good", id);
      setTimeout(answer, 5);
      return cancelTwentyfold(id, 25);
    });
  });

  it("suspended → cancelled", async () => {
    await race(["cancelled"], [delay("sleep", 60_000)], async (runId) => {
      await waitForStatus(runId, RunStatus.SUSPENDED);
      return cancelTwentyfold(runId, 0);
    });
  });

  it("suspended → cancelled × suspended → running → completed", async () => {
    const workflowId = await harness.deploy([delay("sleep", 5_100), mapping("out", 1)]);
    const runIds = await Promise.all(
      Array.from({ length: ROUNDS }, () => harness.start(workflowId)),
    );
    await Promise.all(runIds.map((runId) => waitForStatus(runId, RunStatus.SUSPENDED)));
    const wakes = runIds.map(async (runId) => {
      const { startedAt } = await harness.get(runId);
      const wakesInMs = (startedAt?.getTime() ?? 0) + 5_100 - Date.now();
      await sleep(Math.max(0, wakesInMs - 15));
      await expectOneEnd(runId, await cancelTwentyfold(runId, 60), ["cancelled", "completed"]);
    });
    await Promise.all(wakes);
  });

  it("failed → retried × running → failed: nobody repeats a run that may still succeed", async () => {
    const workflowId = await harness.deploy([httpStep("call", `${outside.url}/bad`)]);
    const { identity } = harness;
    for (let round = 0; round < ROUNDS; round += 1) {
      const runId = await harness.start(workflowId);
      await waitForCall("/bad", runId);
      setTimeout(answer, 5);
      const retries = Array.from({ length: CLIENTS }, async (_, index) => {
        await sleep(Math.random() * 40);
        return (clients[index % clients.length] ?? harness.runs).retryRun({ runId }, { identity });
      });
      const outcomes = await Promise.allSettled(retries);
      await expectOneEnd(runId, 0, ["failed"]);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") {
          // A step's call may be out before the checkpoint that says running has been written.
          expect(outcome.reason).toMatchObject({
            reason: "INVALID_STATE",
            details: { currentStatus: expect.stringMatching(/^(pending|running)$/) },
          });
          continue;
        }
        const newRunId = outcome.value.run?.id ?? "";
        await waitForCall("/bad", newRunId);
        answer();
        await expectOneEnd(newRunId, 0, ["failed"]);
      }
    }
  });

  it("a run that has ended is left by nothing", async () => {
    const workflowId = await harness.deploy([mapping("out", 1)]);
    const { id } = await harness.runToEnd(workflowId);
    await expectOneEnd(id, await cancelTwentyfold(id, 0), ["completed"]);
  });
});
