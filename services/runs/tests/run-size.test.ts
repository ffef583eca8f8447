import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { Run } from "@workflow/proto/runs/v1/run";
import { startHttpDouble } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import {
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

const BYTES_MAX = 256 * 1024;
/** What `/large` answers with. */
const LARGE = 100 * 1024;

let harness: RunsHarness;
let receiver: HttpDouble;
let flakyVisits = 0;

beforeAll(async () => {
  harness = await startRunsHarness({ runBytesMax: BYTES_MAX });
  receiver = await startHttpDouble(({ path }) => {
    if (path.startsWith("/large")) return { body: "x".repeat(LARGE) };
    if (path !== "/flaky") return { body: {} };
    flakyVisits += 1;
    return { status: flakyVisits < 4 ? 503 : 200 };
  });
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});
beforeEach(() => {
  receiver.requests.length = 0;
  flakyVisits = 0;
});

const call = (id: string, path: string, config: object = {}, more: object = {}) =>
  httpStep(id, `${receiver.url}${path}`, config, more);
const large = (id: string, more: object = {}) => call(id, "/large", {}, more);
const retry = { maxAttempts: 5, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };
const runSteps = async (steps: readonly unknown[], input?: unknown): Promise<Run> =>
  harness.runToEnd(await harness.deploy(steps), input);
const failed = (code: string) => ({ status: RunStatus.FAILED, error: { code } });
const calls = () => receiver.requests.length;

describe("a run whose steps hold more than RUN_BYTES_MAX (D56)", () => {
  it("fails with the step that goes beyond, which is not tried again and keeps nothing", async () => {
    const run = await runSteps([
      large("a"),
      large("b"),
      large("c", { retry }),
      mapping("end", "not reached"),
    ]);
    expect(run).toMatchObject(failed("RUN_TOO_LARGE"));
    expect(JSON.parse(run.error?.detailsJson ?? "{}")).toEqual({ stepId: "c", path: "c" });
    expect(resultsOf(run).map(({ path, error, attempt }) => [path, error, attempt])).toEqual([
      ["a", null, 1],
      ["b", null, 1],
      ["c", "RUN_TOO_LARGE", 1],
    ]);
    expect(run.stepResults[2]).toMatchObject({ inputJson: undefined, outputJson: undefined });
    expect(calls()).toBe(3);
  });

  it.each([
    ["a step that may fail", () => [large("c", { onError: "continue" })]],
    [
      "a container that may fail",
      () => [repeat("l", { count: 9 }, [large("c")], { onError: "continue" })],
    ],
    [
      "branches of which one is enough",
      () => [
        parallel(
          "p",
          { one: [large("c"), large("d")], other: [call("e", "/small")] },
          { strategy: "wait-any" },
        ),
      ],
    ],
    [
      "branches that are only waited for",
      () => [
        parallel("p", { one: [large("c")], other: [large("d")] }, { strategy: "wait-all-settled" }),
      ],
    ],
  ])("fails in %s all the same", async (_what, steps) => {
    const first = _what.includes("one is enough") ? [mapping("wide", "{{input.wide}}")] : [];
    const run = await runSteps([large("a"), large("b"), ...first, ...steps(), mapping("end", 1)], {
      // With its record of the input it leaves no room for the smallest of calls.
      wide: "x".repeat(24_000),
    });
    expect(run).toMatchObject(failed("RUN_TOO_LARGE"));
    expect(resultsOf(run).some(({ path }) => path === "end")).toBe(false);
  });

  it("counts what branches beside each other do", async () => {
    const run = await runSteps([
      forEach("p", [1, 2, 3, 4, 5], [large("c")], { strategy: "wait-all-settled" }),
    ]);
    expect(run).toMatchObject(failed("RUN_TOO_LARGE"));
  });

  it("counts bytes of UTF-8, and inputs as well as outputs", async () => {
    const workflowId = await harness.deploy([mapping("a", "{{input.x}}")]);
    expect(await harness.runToEnd(workflowId, { x: "e".repeat(70_000) })).toMatchObject({
      status: RunStatus.COMPLETED,
    });
    expect(await harness.runToEnd(workflowId, { x: "\u00e9".repeat(70_000) })).toMatchObject(
      failed("RUN_TOO_LARGE"),
    );
  });

  it("fails before a call whose own input is too much", async () => {
    const run = await runSteps(
      [large("a"), large("b"), call("c", "/effect", { body: "{{input.x}}" })],
      { x: "x".repeat(100_000) },
    );
    expect(run).toMatchObject(failed("RUN_TOO_LARGE"));
    expect(receiver.requests.map(({ path }) => path)).toEqual(["/large", "/large"]);
  });

  it("gets back what attempts of a container held that were given up", async () => {
    const run = await runSteps([
      repeat("l", { count: 1 }, [large("a"), call("b", "/flaky"), mapping("m", 1)], { retry }),
      large("c"),
    ]);
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(calls()).toBe(4 * 2 + 1);
  });

  it("may be a restarted one: what it takes over counts", async () => {
    const steps = [large("a"), large("b"), mapping("m", "{{input.x}}")];
    const original = await runSteps(steps, { x: 1 });
    expect(original.status).toBe(RunStatus.COMPLETED);
    const { run } = await harness.runs.restartRun(
      {
        runId: original.id,
        fromStepId: "m",
        overrideInputJson: JSON.stringify({ x: "x".repeat(30_000) }),
      },
      { identity: harness.identity },
    );
    const restarted = await harness.waitForEnd(run?.id ?? "");
    expect(restarted).toMatchObject(failed("RUN_TOO_LARGE"));
    expect(calls()).toBe(2);
  });
});

describe("a run that is sure to execute more steps than it may", () => {
  it.each([
    [
      "a loop that counts",
      () => [repeat("l", { count: "{{input.n}}", maxIterations: 100_000 }, [call("c", "/effect")])],
    ],
    [
      "loops in a loop",
      () => [
        repeat("l", { items: "{{input.items}}" }, [
          call("c", "/effect"),
          repeat("inner", { count: 1_000 }, [mapping("m", 1)]),
        ]),
      ],
    ],
    [
      "items beside each other",
      () => [
        forEach("p", "{{input.items}}", [
          call("c", "/effect"),
          parallel("both", {
            x: [repeat("inner", { count: 500 }, [mapping("m", 1)])],
            y: [mapping("n", 1)],
          }),
        ]),
      ],
    ],
    [
      "an iteration of a loop with a condition",
      () => [
        repeat("l", { while: { left: 1, operator: "exists" } }, [
          call("c", "/effect"),
          repeat("inner", { count: 60_000, maxIterations: 60_000 }, [mapping("m", 1)]),
        ]),
      ],
    ],
    [
      "a loop that may fail",
      () => [
        repeat("l", { count: 60_000, maxIterations: 60_000 }, [call("c", "/effect")], {
          onError: "continue",
        }),
      ],
    ],
  ])("is refused before the first effect: %s", async (_what, steps) => {
    const run = await runSteps([...steps(), mapping("end", 1)], {
      n: 100_000,
      items: Array.from({ length: 100 }, (_, index) => index),
    });
    expect(run).toMatchObject(failed("RUN_TOO_LONG"));
    expect(calls()).toBe(0);
    expect(run.stepResults).toHaveLength(1);
  });

  it.each([
    [
      "a response may end it",
      [
        mapping("m", "{{loop.index}}"),
        {
          ...httpStep("r", ""),
          action: "workflow.respond",
          config: { output: "{{steps.m.output}}" },
          when: { left: "{{loop.index}}", operator: "equals", right: 3 },
        },
      ],
    ],
    [
      "conditions leave steps out",
      [
        mapping("m", 1),
        repeat("inner", { count: 1_000 }, [mapping("n", 1)], {
          when: { left: "{{loop.index}}", operator: "equals", right: 0 },
        }),
      ],
    ],
  ])("is not refused where %s", async (what, body) => {
    const isResponse = what.startsWith("a response");
    const count = isResponse ? 100_000 : 60;
    const run = await runSteps([
      repeat("l", { count, maxIterations: 100_000 }, body),
      mapping("end", "end"),
    ]);
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(outputOf(run)).toBe(isResponse ? 3 : "end");
  });
});
