import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import {
  delay,
  expression,
  forEach,
  httpStep,
  mapping,
  outputOf,
  parallel,
  repeat,
  resultsOf,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let receiver: Awaited<ReturnType<typeof startHttpDouble>>;
/** Answers to requests for /held, once they are let go. */
let letGo: () => void = () => {};
let aborted = 0;

beforeAll(async () => {
  harness = await startRunsHarness();
  receiver = await startHttpDouble(async (request, response) => {
    if (request.path === "/fails") return { status: 400, body: "no" };
    if (request.path === "/held") {
      await new Promise<void>((resolve) => {
        letGo = resolve;
        response.on("close", () => {
          if (!response.writableFinished) aborted += 1;
          resolve();
        });
      });
    }
    return { status: 200, headers: { "content-type": "application/json" }, body: '{"ok":true}' };
  });
});
afterAll(async () => {
  letGo();
  await harness.close();
  await receiver.close();
});

const fails = (id: string) => httpStep(id, `${receiver.url}/fails`);

describe("parallel branches", () => {
  it("return the last output of each by its id, and show their steps to what follows", async () => {
    const workflowId = await harness.deploy([
      parallel("p", { a: [mapping("a1", 1), mapping("a2", 2)], b: [mapping("b1", "x")] }),
      mapping("end", { a: "{{steps.a2.output}}", all: "{{steps.p.output.branches}}" }),
    ]);
    const run = await harness.runToEnd(workflowId);
    expect(outputOf(run)).toEqual({ a: 2, all: { a: 2, b: "x" } });
    expect(resultsOf(run).map(({ path }) => path)).toEqual([
      "p",
      "p.a.a1",
      "p.b.b1",
      "p.a.a2",
      "end",
    ]);
  });

  it("get the ids branch1, branch2 when they are given none", async () => {
    const workflowId = await harness.deploy([
      {
        id: "p",
        type: "parallel",
        name: "p",
        config: { branches: [{ steps: [mapping("a", 1)] }, { steps: [mapping("b", 2)] }] },
      },
    ]);
    expect(outputOf(await harness.runToEnd(workflowId))).toEqual({
      branches: { branch1: 1, branch2: 2 },
    });
  });

  it("wait-all runs every branch to its end and then fails with the first failure", async () => {
    const workflowId = await harness.deploy([
      parallel("p", { a: [fails("a1")], b: [delay("b1", 50), mapping("b2", 2)] }),
    ]);
    const run = await harness.runToEnd(workflowId);
    expect(run.status).toBe(RunStatus.FAILED);
    expect(run.error?.code).toBe("HTTP_STATUS");
    expect(JSON.parse(run.error?.detailsJson ?? "{}")).toMatchObject({
      stepId: "a1",
      path: "p.a.a1",
    });
    const results = resultsOf(run);
    expect(results.find(({ path }) => path === "p.b.b2")?.status).toBe("success");
    expect(results.find(({ path }) => path === "p")?.error).toBe("HTTP_STATUS");
  });

  it("wait-all-settled goes on with null for the branches that failed", async () => {
    const workflowId = await harness.deploy([
      parallel("p", { a: [fails("a1")], b: [mapping("b1", 2)] }, { strategy: "wait-all-settled" }),
    ]);
    const run = await harness.runToEnd(workflowId);
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(outputOf(run)).toEqual({ branches: { a: null, b: 2 } });
  });

  it("wait-any takes the first that ends well and cancels the others, requests included", async () => {
    const before = aborted;
    const workflowId = await harness.deploy([
      parallel(
        "p",
        {
          slow: [httpStep("s1", `${receiver.url}/held`)],
          wrong: [fails("w1")],
          waiting: [delay("d1", 600_000)],
          fast: [delay("f1", 30), mapping("f2", "won")],
        },
        { strategy: "wait-any" },
      ),
      mapping("end", "{{steps.p.output.branches.fast}}"),
    ]);
    const run = await harness.runToEnd(workflowId);
    expect(outputOf(run)).toBe("won");
    const results = resultsOf(run);
    expect(results.find(({ path }) => path === "p.slow.s1")?.error).toBe("CANCELLED");
    expect(results.find(({ path }) => path === "p.waiting.d1")?.error).toBe("CANCELLED");
    await waitFor(() => (aborted > before ? true : null), { what: "the request to be aborted" });
  });

  it("wait-any fails when all have failed", async () => {
    const workflowId = await harness.deploy([
      parallel("p", { a: [fails("a1")], b: [fails("b1")] }, { strategy: "wait-any" }),
    ]);
    expect((await harness.runToEnd(workflowId)).error?.code).toBe("HTTP_STATUS");
  });

  it("fail-fast fails with the first failure and cancels the others", async () => {
    const workflowId = await harness.deploy([
      parallel(
        "p",
        { a: [fails("a1")], b: [delay("b1", 600_000), mapping("b2", 2)] },
        { strategy: "fail-fast" },
      ),
    ]);
    const run = await harness.runToEnd(workflowId);
    expect(run.error?.code).toBe("HTTP_STATUS");
    const results = resultsOf(run);
    expect(results.find(({ path }) => path === "p.b.b1")?.error).toBe("CANCELLED");
    expect(results.some(({ path }) => path === "p.b.b2")).toBe(false);
  });

  it("end with TIMEOUT when their time is over, waits included", async () => {
    const workflowId = await harness.deploy([
      parallel("p", { a: [mapping("a1", 1)], b: [delay("b1", 600_000)] }, { timeout: 150 }),
    ]);
    const run = await harness.runToEnd(workflowId);
    expect(run.error?.code).toBe("TIMEOUT");
    const [first] = resultsOf(run);
    expect(first).toMatchObject({ path: "p", error: "TIMEOUT" });
  });

  it("go on after a delay while another branch is still at work", async () => {
    const workflowId = await harness.deploy([
      parallel("p", {
        held: [httpStep("h1", `${receiver.url}/held`)],
        quick: [delay("q1", 20), httpStep("q2", `${receiver.url}/quick`)],
      }),
    ]);
    const runId = await harness.start(workflowId);
    await waitFor(() => (receiver.requests.some(({ path }) => path === "/quick") ? true : null), {
      what: "the quick branch to call while the other one is held",
    });
    expect((await harness.get(runId)).status).toBe(RunStatus.RUNNING);
    letGo();
    expect((await harness.waitForEnd(runId)).status).toBe(RunStatus.COMPLETED);
  });

  it("run as many at a time as concurrency says", async () => {
    const workflowId = await harness.deploy([
      forEach("p", [1, 2, 3, 4, 5, 6], [delay("d", 15), mapping("m", "{{loop.item}}")], {
        concurrency: 2,
      }),
    ]);
    const run = await harness.runToEnd(workflowId);
    const times = run.stepResults.filter(({ stepId }) => stepId === "d");
    const overlapping = times.map(
      (one) =>
        times.filter(
          (other) =>
            Number(other.startedAt) < Number(one.completedAt) &&
            Number(other.completedAt) > Number(one.startedAt),
        ).length,
    );
    // Three of them touch: the one that begins as another ends.
    expect(Math.max(...overlapping)).toBeLessThanOrEqual(3);
    expect(outputOf(run)).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

describe("parallel forEach", () => {
  it("runs its steps once for each item, each seeing only its own", async () => {
    const workflowId = await harness.deploy([
      forEach("p", "{{input.names}}", [
        expression("up", "$uppercase(loop.item)"),
        mapping("both", ["{{loop.index}}", "{{loop.item}}", "{{steps.up.output}}"]),
      ]),
      mapping("end", { all: "{{steps.p.output}}", last: "{{steps.up.output}}" }),
    ]);
    const run = await harness.runToEnd(workflowId, { names: ["a", "b", "c"] });
    expect(outputOf(run)).toEqual({
      all: [
        [0, "a", "A"],
        [1, "b", "B"],
        [2, "c", "C"],
      ],
      last: "C",
    });
    expect(resultsOf(run).map(({ path }) => path)).toContain("p[2].both");
  });

  it("of nothing gives an empty array", async () => {
    const workflowId = await harness.deploy([forEach("p", "{{input.none}}", [mapping("m", 1)])]);
    expect(outputOf(await harness.runToEnd(workflowId, { none: [] }))).toEqual([]);
  });

  it("of something that is no array is a clear error of the step", async () => {
    const workflowId = await harness.deploy([forEach("p", "{{input.none}}", [mapping("m", 1)])]);
    const run = await harness.runToEnd(workflowId, { none: "text" });
    expect(run.error).toMatchObject({
      code: "INVALID_INPUT",
      message: "forEach must be an array.",
    });
  });

  it("nests in loops and loops in it", async () => {
    const workflowId = await harness.deploy([
      repeat("outer", { items: [[1, 2], [3]] }, [
        forEach("inner", "{{loop.item}}", [
          repeat("deep", { count: 2 }, [mapping("leaf", ["{{loop.index}}"])]),
          mapping("here", { item: "{{loop.item}}", deep: "{{steps.deep.output}}" }),
        ]),
      ]),
    ]);
    const run = await harness.runToEnd(workflowId);
    const deep = [[0], [1]];
    expect(outputOf(run)).toEqual([
      [
        { item: 1, deep },
        { item: 2, deep },
      ],
      [{ item: 3, deep }],
    ]);
    expect(resultsOf(run).map(({ path }) => path)).toContain("outer[1].inner[0].deep[1].leaf");
  });
});
