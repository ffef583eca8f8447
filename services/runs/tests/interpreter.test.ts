import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { startHttpDouble } from "@workflow/testkit";
import {
  httpStep,
  mapping,
  outputOf,
  resultsOf,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let receiver: Awaited<ReturnType<typeof startHttpDouble>>;

beforeAll(async () => {
  harness = await startRunsHarness();
  receiver = await startHttpDouble((request) => {
    if (request.path.startsWith("/status/")) {
      return { status: Number(request.path.slice(8)), body: "sorry" };
    }
    return {
      status: 200,
      headers: { "content-type": "application/json" },
      body: '{"ok":true,"n":1}',
    };
  });
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

describe("a run", () => {
  it("executes its steps in order and returns the last output", async () => {
    const workflowId = await harness.deploy([
      mapping("a", { sum: "{{input.n}}", text: "n is {{input.n}}" }),
      mapping("b", { from: "{{steps.a.output.sum}}" }),
      mapping("c", ["{{steps.b.output.from}}", "{{run.id}}"]),
    ]);
    const run = await harness.runToEnd(workflowId, { n: 5 });
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(outputOf(run)).toEqual([5, run.id]);
    expect(resultsOf(run).map((step) => step.output)).toEqual([
      { sum: 5, text: "n is 5" },
      { from: 5 },
      [5, run.id],
    ]);
    expect(run.taskRuntimeRunId).toBeTruthy();
    expect(run.durationMs).toBeGreaterThanOrEqual(0);
  });

  it("evaluates JSONata on the run's scope and on an input of its own", async () => {
    const workflowId = await harness.deploy([
      { id: "t", type: "transform", name: "t", config: { expression: "$sum(input.items.price)" } },
      {
        id: "u",
        type: "transform",
        name: "u",
        config: { expression: "total * 2", input: { total: "{{steps.t.output}}" } },
      },
    ]);
    const run = await harness.runToEnd(workflowId, { items: [{ price: 2 }, { price: 3 }] });
    expect(outputOf(run)).toBe(10);
  });

  it("takes the first branch that holds and records nested steps by path (D26)", async () => {
    const branch = (id: string, above: number) => ({
      id,
      when: { left: "{{input.amount}}", operator: "greater_than", right: above },
      steps: [mapping(`in-${id}`, id)],
    });
    const workflowId = await harness.deploy([
      {
        id: "cond",
        type: "condition",
        name: "cond",
        config: {
          branches: [branch("high", 100), branch("mid", 10)],
          else: [mapping("low", "low")],
        },
      },
      mapping("after", ["{{steps.in-mid.output}}", "{{steps.low.output}}"]),
    ]);
    const mid = await harness.runToEnd(workflowId, { amount: 50 });
    expect(resultsOf(mid).map(({ path }) => path)).toEqual(["cond", "cond.mid.in-mid", "after"]);
    expect(outputOf(mid)).toEqual(["mid", null]);
    const low = await harness.runToEnd(workflowId, { amount: 1 });
    expect(resultsOf(low).map(({ path }) => path)).toEqual(["cond", "cond.else.low", "after"]);
    expect(resultsOf(low)[0]?.output).toEqual({ branch: "else" });
  });

  it("calls a URL with an idempotency key and gives on what it answered", async () => {
    const workflowId = await harness.deploy([
      httpStep("call", `${receiver.url}/orders`, { body: { a: "{{input.a}}" } }),
      mapping("m", "{{steps.call.output.body.n}}"),
    ]);
    const run = await harness.runToEnd(workflowId, { a: 1 });
    expect(outputOf(run)).toBe(1);
    expect(receiver.countByKey(`${run.id}:call:1`)).toBe(1);
  });

  it("fails with the step's error when a step fails", async () => {
    const workflowId = await harness.deploy([
      httpStep("call", `${receiver.url}/status/418`),
      mapping("never", 1),
    ]);
    const run = await harness.runToEnd(workflowId);
    expect(run.status).toBe(RunStatus.FAILED);
    expect(run.error?.code).toBe("HTTP_STATUS");
    expect(JSON.parse(run.error?.detailsJson ?? "{}")).toMatchObject({
      stepId: "call",
      status: 418,
    });
    expect(resultsOf(run)).toMatchObject([{ path: "call", status: "error", error: "HTTP_STATUS" }]);
  });

  it("goes on after a failed step whose onError is continue", async () => {
    const workflowId = await harness.deploy([
      httpStep("call", `${receiver.url}/status/500`, {}, { onError: "continue" }),
      mapping("next", { error: "{{steps.call.error.code}}" }),
    ]);
    const run = await harness.runToEnd(workflowId);
    expect(outputOf(run)).toEqual({ error: "HTTP_STATUS" });
  });

  it("still shows what ran inside a branch after it has rested in between", async () => {
    const workflowId = await harness.deploy([
      {
        id: "cond",
        type: "condition",
        name: "cond",
        config: {
          if: { left: 1, operator: "equals", right: 1 },
          then: [mapping("inside", { discount: 7 })],
        },
      },
      { id: "wait", type: "delay", name: "wait", config: { durationMs: 30 } },
      mapping("after", "{{steps.inside.output.discount}}"),
    ]);
    expect(outputOf(await harness.runToEnd(workflowId))).toBe(7);
  });

  it("fails a condition with the error of the step inside, or goes on when it may", async () => {
    const condition = (onError: string) => ({
      id: "cond",
      type: "condition",
      name: "cond",
      onError,
      config: {
        if: { left: 1, operator: "equals", right: 1 },
        then: [httpStep("call", `${receiver.url}/status/500`)],
      },
    });
    const failing = await harness.runToEnd(await harness.deploy([condition("fail")]));
    expect(JSON.parse(failing.error?.detailsJson ?? "{}")).toMatchObject({
      path: "cond.then.call",
    });
    expect(resultsOf(failing).map(({ path, status }) => [path, status])).toEqual([
      ["cond", "error"],
      ["cond.then.call", "error"],
    ]);
    const going = await harness.deploy([
      condition("continue"),
      mapping("after", "{{steps.cond.error.code}}"),
    ]);
    expect(outputOf(await harness.runToEnd(going))).toBe("HTTP_STATUS");
  });

  it("skips a step whose when does not hold", async () => {
    const workflowId = await harness.deploy([
      mapping("a", 1),
      mapping("b", 2, { when: { left: "{{input.go}}", operator: "equals", right: true } }),
    ]);
    const run = await harness.runToEnd(workflowId, { go: false });
    expect(resultsOf(run).map(({ status }) => status)).toEqual(["success", "skipped"]);
    expect(outputOf(run)).toBe(1);
  });

  it("rests during a delay and goes on where it stood", async () => {
    const workflowId = await harness.deploy([
      httpStep("before", `${receiver.url}/once`),
      { id: "wait", type: "delay", name: "wait", config: { durationMs: 300 } },
      mapping("after", "{{steps.before.output.status}}"),
    ]);
    const run = await harness.runToEnd(workflowId);
    expect(outputOf(run)).toBe(200);
    expect(run.durationMs).toBeGreaterThanOrEqual(300);
    expect(receiver.countByKey(`${run.id}:before:1`)).toBe(1);
    expect(resultsOf(run).map(({ path }) => path)).toEqual(["before", "wait", "after"]);
  });

  it("shows a run as suspended during a delay of more than five seconds (D17)", async () => {
    const workflowId = await harness.deploy([
      { id: "wait", type: "delay", name: "wait", config: { durationMs: 60_000 } },
    ]);
    const runId = await harness.start(workflowId);
    let run = await harness.get(runId);
    while (run.status !== RunStatus.SUSPENDED) run = await harness.get(runId);
    const cancelled = await harness.runs.cancelRun({ runId }, { identity: harness.identity });
    expect(cancelled.status).toBe(RunStatus.CANCELLED);
  });

  it("tries a failed step again and keeps the earlier attempts", async () => {
    const workflowId = await harness.deploy([
      httpStep(
        "call",
        `${receiver.url}/status/503`,
        {},
        { retry: { maxAttempts: 3, backoff: "fixed", delayMs: 20, maxDelayMs: 20, jitter: false } },
      ),
    ]);
    const run = await harness.runToEnd(workflowId);
    expect(run.stepResults[0]?.attempt).toBe(3);
    expect(run.stepResults[0]?.previousAttempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });
});
