import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import {
  delay,
  forEach,
  mapping,
  outputOf,
  parallel,
  repeat,
  resultsOf,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
beforeAll(async () => {
  harness = await startRunsHarness();
});
afterAll(() => harness.close());

const when = (left: string, right: unknown) => ({ left, operator: "equals", right });
const branch = (id: string, condition: object, then: unknown[], otherwise: unknown[] = []) => ({
  id,
  type: "condition",
  name: id,
  // oxlint-disable-next-line unicorn/no-thenable -- the key is part of the contract
  config: { if: condition, then, else: otherwise },
});
const x = mapping("x", "{{loop.item}}");

const CONTAINERS: Record<string, unknown> = {
  "a forEach whose first item alone runs the step": forEach(
    "c",
    [1, 2, 3],
    [branch("b", when("{{loop.item}}", 1), [x])],
  ),
  "a forEach that the middle item wins": forEach(
    "c",
    [400, 20, 300],
    [delay("d", "{{loop.item}}"), x],
    { strategy: "wait-any" },
  ),
  "a loop whose second iteration alone runs the step": repeat("c", { items: [1, 2, 3] }, [
    branch("b", when("{{loop.item}}", 2), [x]),
  ]),
  "a loop that fails in its last iteration": repeat(
    "c",
    { items: [1, 2, 3] },
    [x, { ...repeat("inner", { count: "{{loop.item}}", maxIterations: 2 }, [mapping("m", 1)]) }],
    { onError: "continue" },
  ),
  "branches of which one is given up": parallel(
    "c",
    { slow: [mapping("x", "slow"), delay("d", 60_000)], fast: [delay("f", 30)] },
    { strategy: "wait-any" },
  ),
  "a step that runs out of time": {
    ...parallel("c", { a: [mapping("x", "before"), delay("d", 60_000)] }, { timeout: 80 }),
    onError: "continue",
  },
  "a loop in a forEach": forEach(
    "c",
    [2, 1],
    [repeat("l", { count: "{{loop.item}}" }, [mapping("x", "{{loop.index}}")])],
  ),
};

describe("what is seen of the steps in a container", () => {
  it.each(Object.keys(CONTAINERS))("is the same after a wait: %s", async (name) => {
    const seen = mapping("seen", { x: "{{steps.x.output}}", status: "{{steps.x.status}}" });
    const container = CONTAINERS[name];
    const straight = await harness.runToEnd(await harness.deploy([container, seen]));
    const parked = await harness.runToEnd(
      await harness.deploy([container, delay("pause", 60), seen]),
    );
    expect(straight.error).toBeUndefined();
    expect(outputOf(parked)).toEqual(outputOf(straight));
  });
});

describe("a run that repeats another one with another input", () => {
  const restart = async (runId: string, fromStepId: string, input: unknown) => {
    const { run } = await harness.runs.restartRun(
      { runId, fromStepId, overrideInputJson: JSON.stringify(input) },
      { identity: harness.identity },
    );
    return harness.waitForEnd(run?.id ?? "");
  };

  it("drops what it took over of items that it does not have", async () => {
    const workflowId = await harness.deploy([
      forEach("p", "{{input.l}}", [x]),
      delay("pause", 40),
      mapping("seen", { x: "{{steps.x.output}}", p: "{{steps.p.output}}" }),
    ]);
    const original = await harness.runToEnd(workflowId, { l: [1, 2, 3] });
    const run = await restart(original.id, "p[1].x", { l: [7, 8] });
    expect(outputOf(run)).toEqual({ x: 8, p: [1, 8] });
    expect(resultsOf(run).map(({ path }) => path)).not.toContain("p[2].x");
  });

  it("drops what it took over of a branch that it does not take", async () => {
    const workflowId = await harness.deploy([
      branch(
        "c",
        when("{{input.k}}", 1),
        [mapping("y", "Y"), mapping("y2", "Y2")],
        [mapping("n", 2)],
      ),
      mapping("z", { y: "{{steps.y.output}}", n: "{{steps.n.output}}" }),
    ]);
    const original = await harness.runToEnd(workflowId, { k: 1 });
    const run = await restart(original.id, "y2", { k: 2 });
    expect(outputOf(run)).toEqual({ y: null, n: 2 });
    expect(resultsOf(run).map(({ path }) => path)).toEqual(["c", "c.else.n", "z"]);
    expect(outputOf(await restart(run.id, "z", {}))).toEqual({ y: null, n: 2 });
  });
});

describe("what a run has done", () => {
  it("can be read while a slow step goes on", async () => {
    const workflowId = await harness.deploy([
      mapping("quick", 1),
      {
        id: "slow",
        type: "transform",
        name: "slow",
        config: { expression: "($f := function($n) { $f($n + 1) }; $f(0))" },
      },
    ]);
    const runId = await harness.start(workflowId);
    await waitFor(
      async () => {
        const run = await harness.get(runId);
        return run.stepResults.length === 1 && run.completedAt === undefined ? true : null;
      },
      { intervalMs: 10, what: "the first result before the run has ended" },
    );
    await harness.waitForEnd(runId);
  });
});
