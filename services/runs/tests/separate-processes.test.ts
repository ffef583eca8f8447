import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import {
  httpStep,
  mapping,
  outputOf,
  startRequest,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let receiver: HttpDouble;
const hungUp = Promise.withResolvers<void>();

beforeAll(async () => {
  harness = await startRunsHarness({ role: "api" });
  // Never answers: only the caller can end the exchange.
  receiver = await startHttpDouble((_request, response) => {
    response.once("close", hungUp.resolve);
  });
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

describe("API and worker in processes of their own", () => {
  it("keeps runs until a worker comes, and tells a waiting caller of their end", async () => {
    const workflowId = await harness.deploy([mapping("a", "{{input.n}}")]);
    const { identity, runs } = harness;
    const before = await harness.start(workflowId, { n: 0 });
    expect((await harness.get(before)).status).toBe(RunStatus.PENDING);

    const worker = await harness.startAnother("worker");
    expect(worker.grpcAddress).toBeUndefined();
    expect(outputOf(await harness.waitForEnd(before))).toBe(0);

    const secondApi = harness.connect(await harness.startAnother("api"));
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        (n % 2 === 0 ? runs : secondApi).startRun(
          { ...startRequest(workflowId, { n }), waitMs: 20_000 },
          { identity },
        ),
      ),
    );
    expect(responses.some(({ timedOut }) => timedOut)).toBe(false);
    expect(responses.map(({ run }) => run?.outputJson)).toEqual(responses.map((_, n) => String(n)));
    await worker.stop();
  });

  it("stops a run in the worker's process that is cancelled through another one", async () => {
    const worker = await harness.startAnother("worker");
    const workflowId = await harness.deploy([httpStep("call", `${receiver.url}/hang`)]);
    const { identity, runs } = harness;
    const waiting = runs.startRun({ ...startRequest(workflowId), waitMs: 60_000 }, { identity });
    await waitFor(() => receiver.requests.length === 1, { what: "the step's call" });
    const runId = await harness.waitForRun(workflowId, RunStatus.RUNNING);
    await runs.cancelRun({ runId }, { identity });
    await hungUp.promise;
    expect(await waiting).toMatchObject({ timedOut: false, run: { status: RunStatus.CANCELLED } });
    await worker.stop();
  });
});
