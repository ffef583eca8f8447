import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { mapping, outputOf, startRequest, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let workflowId: string;

beforeAll(async () => {
  harness = await startRunsHarness();
  workflowId = await harness.deploy([mapping("echo", "{{input.n}}")], {
    inputSchema: { type: "object", required: ["n"], properties: { n: { type: "number" } } },
  });
});
afterAll(() => harness.close());

const startRuns = (requests: ReturnType<typeof startRequest>[]) =>
  harness.runs.startRuns({ requests }, { identity: harness.identity });

async function refusalOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (isAppError(error)) return error.reason;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("starting several runs in one call", () => {
  it("gives each request its own result, in order, whatever becomes of the others", async () => {
    const { results } = await startRuns([
      startRequest(workflowId, { n: 1 }),
      startRequest(workflowId, { n: "one" }),
      startRequest(newUuid(), { n: 1 }),
      { ...startRequest(workflowId), inputJson: "[" },
      startRequest(workflowId, { n: 2 }),
    ]);
    expect(results.map((result) => result.failure?.reason ?? "started")).toEqual([
      "started",
      "VALIDATION_ERROR",
      "NOT_FOUND",
      "BAD_REQUEST",
      "started",
    ]);
    expect(results[1]?.failure?.violations).toEqual([{ path: ["n"], message: expect.any(String) }]);
    const ended = await Promise.all(
      results.flatMap(({ started }) =>
        started?.run === undefined ? [] : [harness.waitForEnd(started.run.id)],
      ),
    );
    expect(ended.map(outputOf)).toEqual([1, 2]);
    expect(ended.every(({ status }) => status === RunStatus.COMPLETED)).toBe(true);
  });

  it("starts one run for requests with the same idempotency key", async () => {
    const request = { ...startRequest(workflowId, { n: 3 }), idempotencyKey: "one-of-many" };
    const { results } = await startRuns(Array.from({ length: 20 }, () => request));
    expect(new Set(results.map(({ started }) => started?.run?.id)).size).toBe(1);
    expect(results.filter(({ started }) => started?.existing === false)).toHaveLength(1);
  });

  it("takes 1 to 100 requests, none that waits", async () => {
    const request = startRequest(workflowId, { n: 4 });
    const hundred = Array.from({ length: 100 }, () => request);
    expect((await startRuns(hundred)).results).toHaveLength(100);
    expect(await refusalOf(startRuns([]))).toBe("BAD_REQUEST");
    expect(await refusalOf(startRuns([...hundred, request]))).toBe("BAD_REQUEST");
    expect(await refusalOf(startRuns([{ ...request, waitMs: 1_000 }]))).toBe("BAD_REQUEST");
  });
});
