import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { startHttpDouble } from "@workflow/testkit";
import {
  delay,
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
const visits = new Map<string, number>();

beforeAll(async () => {
  harness = await startRunsHarness();
  receiver = await startHttpDouble((request) => {
    const count = (visits.get(request.path) ?? 0) + 1;
    visits.set(request.path, count);
    if (request.path.startsWith("/fails-twice/") && count <= 2) return { status: 500, body: "no" };
    if (request.path.startsWith("/fails")) {
      if (!request.path.startsWith("/fails-twice/")) return { status: 400, body: "no" };
    }
    return { body: { count } };
  });
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

describe("a loop", () => {
  it("over items returns the last output of each iteration", async () => {
    const workflowId = await harness.deploy([
      repeat("l", { items: "{{input.list}}" }, [
        mapping("a", { item: "{{loop.item}}" }),
        mapping("b", { index: "{{loop.index}}", from: "{{steps.a.output.item}}" }),
      ]),
      mapping("end", { all: "{{steps.l.output}}", last: "{{steps.b.output.from}}" }),
    ]);
    const run = await harness.runToEnd(workflowId, { list: ["x", "y"] });
    expect(outputOf(run)).toEqual({
      all: [
        { index: 0, from: "x" },
        { index: 1, from: "y" },
      ],
      last: "y",
    });
    expect(resultsOf(run).map(({ path }) => path)).toEqual([
      "l",
      "l[0].a",
      "l[0].b",
      "l[1].a",
      "l[1].b",
      "end",
    ]);
  });

  it("by count gives the number of the iteration as item and index", async () => {
    const workflowId = await harness.deploy([
      repeat("l", { count: "{{input.n}}" }, [mapping("a", "{{loop.item}}")]),
    ]);
    expect(outputOf(await harness.runToEnd(workflowId, { n: 3 }))).toEqual([0, 1, 2]);
    expect(outputOf(await harness.runToEnd(workflowId, { n: 0 }))).toEqual([]);
  });

  it("while a condition holds sees what the last iteration returned", async () => {
    const workflowId = await harness.deploy([
      repeat(
        "l",
        {
          while: {
            not: {
              left: "{{steps.poll.output.body.count}}",
              operator: "greater_than_or_equal",
              right: 3,
            },
          },
        },
        [httpStep("poll", `${receiver.url}/poll-${Math.random()}`)],
      ),
      mapping("end", "{{steps.poll.output.body.count}}"),
    ]);
    expect(outputOf(await harness.runToEnd(workflowId))).toBe(3);
  });

  it("ends with LOOP_LIMIT instead of running more often than maxIterations", async () => {
    const forever = { left: 1, operator: "equals", right: 1 };
    const endless = await harness.deploy([
      repeat("l", { while: forever, maxIterations: 5 }, [mapping("a", 1)]),
    ]);
    const run = await harness.runToEnd(endless);
    expect(run.error?.code).toBe("LOOP_LIMIT");
    expect(run.stepResults.filter(({ stepId }) => stepId === "a")).toHaveLength(5);
    const huge = await harness.deploy([repeat("l", { count: "{{input.n}}" }, [mapping("a", 1)])]);
    const refused = await harness.runToEnd(huge, { n: 1_000_000_000 });
    expect(refused.error?.code).toBe("LOOP_LIMIT");
    expect(refused.stepResults.filter(({ stepId }) => stepId === "a")).toHaveLength(0);
  });

  it.each([{ n: -1 }, { n: 1.5 }, { n: "3" }, {}])("refuses the count %p", async (input) => {
    const workflowId = await harness.deploy([
      repeat("l", { count: "{{input.n}}" }, [mapping("a", 1)]),
    ]);
    expect((await harness.runToEnd(workflowId, input)).error?.code).toBe("INVALID_INPUT");
  });

  it("does not show what an earlier iteration did in a branch that the last did not take", async () => {
    const workflowId = await harness.deploy([
      repeat("l", { items: [1, 2] }, [
        {
          id: "c",
          type: "condition",
          name: "c",
          config: {
            if: { left: "{{loop.item}}", operator: "equals", right: 1 },
            // oxlint-disable-next-line unicorn/no-thenable -- the key is part of the contract
            then: [mapping("only", "first")],
          },
        },
        mapping("seen", { only: "{{steps.only.output}}" }),
      ]),
      // The delay makes another execution take over what the first one wrote.
      delay("d", 30),
      mapping("end", { all: "{{steps.l.output}}", after: "{{steps.only.output}}" }),
    ]);
    expect(outputOf(await harness.runToEnd(workflowId))).toEqual({
      all: [{ only: "first" }, { only: null }],
      after: null,
    });
  });

  it("fails with the step that failed in it, or goes on when that step says so", async () => {
    const failing = (more: object) =>
      repeat("l", { items: ["/ok", "/fails", "/ok"] }, [
        httpStep("call", `${receiver.url}{{loop.item}}`, {}, more),
        mapping("after", "{{steps.call.status}}"),
      ]);
    const strict = await harness.runToEnd(await harness.deploy([failing({})]));
    expect(JSON.parse(strict.error?.detailsJson ?? "")).toMatchObject({ path: "l[1].call" });
    const lenient = await harness.runToEnd(
      await harness.deploy([failing({ onError: "continue" })]),
    );
    expect(outputOf(lenient)).toEqual(["success", "error", "success"]);
  });

  it("with a policy of its own begins anew after a failure, from its first iteration", async () => {
    const target = `/fails-twice/${Math.random()}`;
    const workflowId = await harness.deploy([
      repeat(
        "l",
        { count: 2 },
        [mapping("before", "{{loop.index}}"), httpStep("call", `${receiver.url}${target}`)],
        { retry: { maxAttempts: 3, delayMs: 10, backoff: "fixed", jitter: false } },
      ),
      mapping("end", "{{steps.call.output.body.count}}"),
    ]);
    const run = await harness.runToEnd(workflowId);
    expect(run.error).toBeUndefined();
    expect(outputOf(run)).toBe(4);
    const loop = run.stepResults.find(({ path }) => path === "l");
    expect(loop?.attempt).toBe(3);
    expect(loop?.previousAttempts.map(({ error }) => error?.code)).toEqual([
      "HTTP_STATUS",
      "HTTP_STATUS",
    ]);
    expect(resultsOf(run).filter(({ path }) => path === "l[0].before")).toHaveLength(1);
    // Each attempt of the loop makes other requests, which a receiver must not take for repeats.
    const keys = receiver.requests
      .filter(({ path }) => path === target)
      .map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(4);
  });

  it("of 1,000 iterations with waits in it ends with all outputs in order", async () => {
    const workflowId = await harness.deploy([
      repeat("l", { count: 1_000 }, [
        mapping("a", "{{loop.index}}"),
        {
          ...delay("d", 10),
          when: { left: "{{loop.index}}", operator: "in", right: [10, 500, 990] },
        },
        mapping("b", "{{steps.a.output}}"),
      ]),
    ]);
    const run = await harness.runToEnd(workflowId);
    expect(outputOf(run)).toEqual(Array.from({ length: 1_000 }, (_, index) => index));
    expect(run.stepResults).toHaveLength(3_001);
  });

  it("whose outputs grow beyond 4 MiB fails as soon as they do", async () => {
    const workflowId = await harness.deploy([
      repeat("l", { count: 100 }, [mapping("a", "{{input.big}}")]),
    ]);
    const run = await harness.runToEnd(workflowId, { big: "x".repeat(500_000) });
    expect(run.error?.code).toBe("OUTPUT_TOO_LARGE");
    expect(run.stepResults.length).toBeLessThan(15);
  });
});

describe("workflow.respond", () => {
  const respond = (id: string, output: unknown, more: object = {}) => ({
    id,
    type: "action",
    name: id,
    action: "workflow.respond",
    config: { output },
    ...more,
  });

  it("ends the run with its output from inside a loop in a parallel branch", async () => {
    const workflowId = await harness.deploy([
      parallel("p", {
        a: [
          repeat("l", { count: 5 }, [
            respond(
              "r",
              { at: "{{loop.index}}" },
              {
                when: { left: "{{loop.index}}", operator: "equals", right: 2 },
              },
            ),
          ]),
        ],
        b: [delay("d", 600_000)],
      }),
      mapping("never", 1),
    ]);
    const run = await harness.runToEnd(workflowId);
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(outputOf(run)).toEqual({ at: 2 });
    const results = resultsOf(run);
    expect(results.find(({ path }) => path === "p.a.l[2].r")?.output).toEqual({ at: 2 });
    expect(results.find(({ path }) => path === "p.b.d")?.error).toBe("CANCELLED");
    expect(results.some(({ path }) => path === "never")).toBe(false);
  });

  it("gives an output that outputSchema checks", async () => {
    const workflowId = await harness.deploy([respond("r", "text"), mapping("m", 1)], {
      outputSchema: { type: "number" },
    });
    expect((await harness.runToEnd(workflowId)).error?.code).toBe("OUTPUT_INVALID");
  });
});
