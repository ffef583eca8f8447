import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newId } from "@workflow/db";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { startHttpDouble } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import {
  delay,
  expression,
  httpStep,
  mapping,
  outputOf,
  parallel,
  repeat,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let receiver: HttpDouble;

beforeAll(async () => {
  harness = await startRunsHarness();
  receiver = await startHttpDouble((_request, response) => {
    response.end("{}");
  });
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});
beforeEach(() => {
  receiver.requests.length = 0;
});

const restart = (runId: string, fromStepId: string, override?: unknown) =>
  harness.runs.restartRun(
    {
      runId,
      fromStepId,
      overrideInputJson: override === undefined ? undefined : JSON.stringify(override),
    },
    { identity: harness.identity },
  );
const restartToEnd = async (runId: string, fromStepId: string, override?: unknown) =>
  harness.waitForEnd((await restart(runId, fromStepId, override)).run?.id ?? "");
const call = (id: string) => httpStep(id, `${receiver.url}/${id}`);
const calls = () => receiver.requests.map(({ path }) => path.slice(1));

describe("RestartRun", () => {
  it("executes from the given step on, that one included", async () => {
    const workflowId = await harness.deploy([call("a"), call("b"), call("c")]);
    const original = await harness.runToEnd(workflowId, { n: 1 });
    receiver.requests.length = 0;
    const restarted = await restart(original.id, "b");
    expect(restarted).toMatchObject({
      originalRunId: original.id,
      restartFromStepId: "b",
      run: { status: RunStatus.PENDING, restartedFromRunId: original.id },
    });
    const run = await harness.waitForEnd(restarted.run?.id ?? "");
    expect(run).toMatchObject({ status: RunStatus.COMPLETED, inputJson: original.inputJson });
    expect(calls()).toEqual(["b", "c"]);
    expect(run.stepResults.map(({ path, reused }) => [path, reused])).toEqual([
      ["a", true],
      ["b", false],
      ["c", false],
    ]);
  });

  it("sends an idempotency key of its own", async () => {
    const workflowId = await harness.deploy([call("a")]);
    const original = await harness.runToEnd(workflowId);
    await restartToEnd(original.id, "a");
    const keys = receiver.requests.map(({ headers }) => headers["idempotency-key"]);
    expect(keys[0]).toMatch(/^run_/);
    expect(new Set(keys).size).toBe(2);
  });

  it("lays overrideInput over the input: objects by member, anything else as a whole", async () => {
    const workflowId = await harness.deploy([
      mapping("before", "{{input.a}}"),
      mapping("all", "{{input}}"),
    ]);
    const input = { a: 1, keep: true, deep: { x: 1, list: [1, 2, 3] } };
    const original = await harness.runToEnd(workflowId, input);
    const run = await restartToEnd(original.id, "all", { a: 2, deep: { list: [9] }, added: null });
    expect(outputOf(run)).toEqual({ a: 2, keep: true, deep: { x: 1, list: [9] }, added: null });
    // Earlier steps saw the old input, and are taken over as they were.
    expect(run.stepResults[0]).toMatchObject({ path: "before", outputJson: "1", reused: true });
    expect((await harness.get(original.id)).inputJson).toBe(JSON.stringify(input));
  });

  it("keeps the input to the letter when nothing overrides it", async () => {
    const workflowId = await harness.deploy([mapping("a", 1)]);
    const text = '{ "big": 12345678901234567890, "__proto__": {"x": 1.0} }';
    const started = await harness.runs.startRun(
      {
        workflowId,
        inputJson: text,
        connectionId: undefined,
        idempotencyKey: undefined,
        triggerType: 0,
        waitMs: 10_000,
        requestId: undefined,
      },
      { identity: harness.identity },
    );
    const run = await restartToEnd(started.run?.id ?? "", "a");
    expect(run.inputJson).toBe(text);
    expect((await restartToEnd(run.id, "a", {})).inputJson).toBe(text);
    const changed = await restartToEnd(run.id, "a", { more: 1 });
    expect(changed.inputJson).toContain('"__proto__":{"x":1}');
  });

  it("holds the merged input to the inputSchema, with the path of each problem", async () => {
    const workflowId = await harness.deploy([mapping("a", "{{input.n}}")], {
      inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    });
    const original = await harness.runToEnd(workflowId, { n: 1 });
    await expect(restart(original.id, "a", { n: "two" })).rejects.toMatchObject({
      reason: "VALIDATION_ERROR",
      violations: [{ path: ["n"] }],
    });
    expect(outputOf(await restartToEnd(original.id, "a", { n: 2, more: 1 }))).toBe(2);
  });

  it("refuses a merged input over 1 MiB", async () => {
    const workflowId = await harness.deploy([mapping("a", 1)]);
    const original = await harness.runToEnd(workflowId, { one: "x".repeat(600_000) });
    const half = "y".repeat(600_000);
    await expect(restart(original.id, "a", { two: half })).rejects.toMatchObject({
      reason: "PAYLOAD_TOO_LARGE",
    });
    await expect(restart(original.id, "a", { two: half + half })).rejects.toMatchObject({
      reason: "PAYLOAD_TOO_LARGE",
    });
    expect((await restartToEnd(original.id, "a", { one: half })).status).toBe(RunStatus.COMPLETED);
  });

  it("begins inside loops and branches by path, or where a nested id first ran", async () => {
    const workflowId = await harness.deploy([
      parallel("par", {
        left: [repeat("loop", { count: 3 }, [call("l1"), call("l2")])],
        right: [call("r1")],
      }),
      call("after"),
    ]);
    const original = await harness.runToEnd(workflowId);
    expect(original.status).toBe(RunStatus.COMPLETED);
    for (const [from, expected] of [
      ["par.left.loop[1].l2", ["l2", "l1", "l2", "after"]],
      ["par.right.r1", ["r1", "after"]],
      ["par", ["l1", "l2", "l1", "l2", "l1", "l2", "r1", "after"]],
      ["l2", ["l2", "l1", "l2", "l1", "l2", "after"]],
    ] as const) {
      receiver.requests.length = 0;
      const run = await restartToEnd(original.id, from);
      expect(run.status).toBe(RunStatus.COMPLETED);
      const made = calls();
      expect(from === "par" ? made.toSorted() : made).toEqual(
        from === "par" ? expected.toSorted() : expected,
      );
    }
  });

  it("may begin anywhere in a failed run; steps without a result are executed", async () => {
    const workflowId = await harness.deploy([
      call("a"),
      expression("b", '$exists(input.fixed) ? 1 : $error("not yet")'),
      mapping("c", "{{steps.b.output}}"),
    ]);
    const failed = await harness.runToEnd(workflowId);
    expect(failed.status).toBe(RunStatus.FAILED);
    receiver.requests.length = 0;
    const run = await restartToEnd(failed.id, "c", { fixed: true });
    expect(outputOf(run)).toBe(1);
    expect(calls()).toEqual([]);
    expect(run.stepResults.map(({ path, reused }) => [path, reused])).toEqual([
      ["a", true],
      ["b", false],
      ["c", false],
    ]);
  });

  it.each(["nothing", "a.b", "a[0]", "loop", "__proto__", "x".repeat(500)])(
    "answers INVALID_STEP for a step %j that the version does not have",
    async (fromStepId) => {
      const original = await harness.runToEnd(await harness.deploy([mapping("a", 1)]));
      await expect(restart(original.id, fromStepId)).rejects.toMatchObject({
        reason: "INVALID_STEP",
      });
    },
  );

  it("refuses requests of the wrong shape", async () => {
    const original = await harness.runToEnd(await harness.deploy([mapping("a", 1)]));
    const send = (fromStepId: string, overrideInputJson?: string) =>
      harness.runs.restartRun(
        { runId: original.id, fromStepId, overrideInputJson },
        { identity: harness.identity },
      );
    for (const [fromStepId, json, field] of [
      ["", undefined, "fromStepId"],
      ["a\0", undefined, "fromStepId"],
      ["a", "[]", "overrideInput"],
      ["a", "{", "overrideInput"],
      ["a", "null", "overrideInput"],
      ["a", '{"a":"\\u0000"}', "overrideInput"],
      ["a", `{"a":${"[".repeat(65)}${"]".repeat(65)}}`, "overrideInput"],
    ] as const) {
      await expect(send(fromStepId, json)).rejects.toMatchObject({
        reason: "BAD_REQUEST",
        violations: [{ path: [field] }],
      });
    }
  });

  it("refuses runs that have not ended, or were cancelled, and says so before the step", async () => {
    const workflowId = await harness.deploy([delay("wait", 60_000)]);
    const runId = await harness.start(workflowId);
    await harness.waitForRun(workflowId, RunStatus.SUSPENDED);
    await expect(restart(runId, "wait")).rejects.toMatchObject({
      reason: "INVALID_STATE",
      details: { currentStatus: "suspended" },
    });
    await harness.runs.cancelRun({ runId }, { identity: harness.identity });
    await expect(restart(runId, "nothing")).rejects.toMatchObject({
      reason: "INVALID_STATE",
      details: { currentStatus: "cancelled" },
    });
  });

  it("knows nothing of another company's run, nor of ids that are none", async () => {
    const original = await harness.runToEnd(await harness.deploy([mapping("a", 1)]));
    const send = (runId: string, identity = harness.identity) =>
      harness.runs.restartRun(
        { runId, fromStepId: "a", overrideInputJson: undefined },
        { identity },
      );
    for (const attempt of [
      () => send(original.id, testIdentity()),
      () => send(newId("run_")),
      () => send("x"),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ reason: "NOT_FOUND" });
    }
  });
});
