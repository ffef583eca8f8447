import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { StartRunRequest } from "@workflow/proto/runs/v1/starts";
import {
  delay,
  expression,
  mapping,
  outputOf,
  startRequest,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let workflowId: string;

beforeAll(async () => {
  harness = await startRunsHarness();
  workflowId = await harness.deploy([mapping("echo", { said: "{{input.word}}" })]);
});
afterAll(() => harness.close());

async function start(more: Partial<StartRunRequest>) {
  const request = { ...startRequest(workflowId), ...more };
  const response = await harness.runs.startRun(request, { identity: harness.identity });
  if (response.run === undefined) throw new Error("no run in the response");
  return { ...response, run: response.run };
}

describe("a synchronous start", () => {
  it("answers with the run's output when it ends in time", async () => {
    const { run, timedOut } = await start({ inputJson: '{"word":"now"}', waitMs: 10_000 });
    expect(timedOut).toBe(false);
    expect(run).toMatchObject({ status: RunStatus.COMPLETED, stepResults: [] });
    expect(outputOf(run)).toEqual({ said: "now" });
    expect(run.durationMs).toBeGreaterThanOrEqual(0);
  });

  it("answers with the run's error when it fails", async () => {
    const id = await harness.deploy([expression("t", '$error("no way")')]);
    const { run, timedOut } = await start({ workflowId: id, waitMs: 10_000 });
    expect(timedOut).toBe(false);
    expect(run).toMatchObject({
      status: RunStatus.FAILED,
      error: { code: "EXPRESSION_FAILED", message: expect.stringContaining("no way") },
    });
  });

  it("says that the time is up and lets the run go on", async () => {
    const id = await harness.deploy([delay("wait", 1_000), mapping("end", "end")]);
    const { run, timedOut } = await start({ workflowId: id, waitMs: 100 });
    expect(timedOut).toBe(true);
    expect([RunStatus.PENDING, RunStatus.RUNNING]).toContain(run.status);
    expect(outputOf(await harness.waitForEnd(run.id))).toBe("end");
  });

  it("answers at once when the run is cancelled meanwhile", async () => {
    const id = await harness.deploy([delay("wait", 60_000)]);
    const waiting = start({ workflowId: id, waitMs: 60_000 });
    const runId = await harness.waitForRun(id, RunStatus.SUSPENDED);
    await harness.runs.cancelRun({ runId }, { identity: harness.identity });
    expect(await waiting).toMatchObject({
      timedOut: false,
      run: { id: runId, status: RunStatus.CANCELLED },
    });
  });

  it("answers each of many simultaneous callers with its own run", async () => {
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        start({ inputJson: JSON.stringify({ word: index }), waitMs: 20_000 }),
      ),
    );
    expect(responses.every(({ timedOut }) => !timedOut)).toBe(true);
    expect(responses.map(({ run }) => outputOf(run))).toEqual(
      responses.map((_, said) => ({ said })),
    );
  });

  it.each([-1, 300_001])("refuses to wait for %d ms", async (waitMs) => {
    await expect(start({ waitMs })).rejects.toMatchObject({ reason: "BAD_REQUEST" });
  });
});
