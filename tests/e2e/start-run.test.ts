import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  createActive,
  delay,
  failing,
  getRun,
  postRun,
  runIdOf,
  startRun,
  transform,
  waitForFirstRun,
  waitForRun,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let quickId: string;
let slowId: string;
let failingId: string;

beforeAll(async () => {
  system = await startWholeSystem();
  quickId = await createActive(system, { steps: [transform("out", { got: "{{input}}" })] });
  slowId = await createActive(system, { steps: [delay("wait", 1_600), transform("out", "late")] });
  failingId = await createActive(system, { steps: [failing("call")] });
});
afterAll(() => system.stop());

const RUN_ID = expect.stringMatching(/^run_[0-9a-hjkmnp-tv-z]{26}$/);

/** The ids in both spellings (D25). */
function names(workflowId: string) {
  return {
    run_id: RUN_ID,
    workflow_id: workflowId,
    runId: RUN_ID,
    workflowId,
    workflowVersion: 1,
  };
}

describe("an asynchronous start", () => {
  it("answers 202 with a pending run", async () => {
    const answer = await postRun(system, quickId, { input: { a: 1 }, mode: "async" });
    expect(answer.status).toBe(202);
    expect(answer.data).toEqual({ ...names(quickId), status: "pending", mode: "async" });
    expect(answer.data).toMatchObject({ runId: runIdOf(answer) });
  });

  it("is the default, with or without a body", async () => {
    for (const body of [undefined, {}, { input: {} }]) {
      const answer = await postRun(system, quickId, body);
      expect(answer).toMatchObject({ status: 202, data: { mode: "async", status: "pending" } });
      const run = await waitForRun(system, runIdOf(answer));
      expect(run).toMatchObject({ status: "completed", input: {}, output: { got: {} } });
    }
  });

  it("can be read at once", async () => {
    const answer = await postRun(system, quickId, { input: { a: 1 } });
    const run = await getRun(system, runIdOf(answer));
    expect(run).toMatchObject({ id: runIdOf(answer), workflowId: quickId, input: { a: 1 } });
  });

  it("takes no notice of the options of the other mode", async () => {
    const body = { maxExecutionTimeMs: 1_000, onTimeout: "throw_error", onFailure: "throw_error" };
    const answer = await postRun(system, failingId, body);
    expect(answer).toMatchObject({ status: 202, data: { mode: "async", status: "pending" } });
  });

  it("keeps the input's text: key order, big numbers and keys such as __proto__", async () => {
    const input = '{"z":1,"a":2,"1":3,"__proto__":{"x":1},"big":9007199254740993}';
    const answer = await system.call("POST", `/workflows/${quickId}/run`, {
      raw: `{"input":${input}}`,
    });
    const read = await system.call("GET", `/runs/${runIdOf(answer)}`);
    expect(read.text).toContain(`"input":${input}`);
  });
});

describe("a synchronous start", () => {
  it("of a run that completes answers 200 with its output", async () => {
    const answer = await postRun(system, quickId, { mode: "sync", input: { a: 1 } });
    expect(answer.status).toBe(200);
    expect(answer.data).toEqual({
      ...names(quickId),
      status: "completed",
      mode: "sync",
      output: { got: { a: 1 } },
      duration_ms: expect.any(Number),
    });
  });

  it.each([[null], ["text"], [0], [false], [[]], [{}]])(
    "hands out an output that is %j as it is (D17)",
    async (value) => {
      const id = await createActive(system, { steps: [transform("out", value)] });
      const answer = await postRun(system, id, { mode: "sync" });
      expect(answer).toMatchObject({ status: 200, data: { output: value } });
    },
  );

  it("of a run that fails answers 500 TRIGGER_ERROR by default", async () => {
    for (const options of [{}, { onFailure: "throw_error" }]) {
      const answer = await postRun(system, failingId, { mode: "sync", ...options });
      expect(answer.status).toBe(500);
      expect(answer.error).toMatchObject({
        code: "TRIGGER_ERROR",
        details: { run_id: RUN_ID, workflow_id: failingId },
      });
      expect(answer.error?.message).not.toBe("An internal error occurred.");
    }
  });

  it("of a run that fails answers 202 with the same error when it may switch", async () => {
    const body = { mode: "sync", onFailure: "switch_to_async" };
    const answer = await postRun(system, failingId, body);
    expect(answer.status).toBe(202);
    expect(answer.data).toEqual({
      ...names(failingId),
      status: "failed",
      mode: "async",
      error: {
        code: "TRIGGER_ERROR",
        message: expect.any(String),
        details: expect.objectContaining({ run_id: RUN_ID, workflow_id: failingId }),
        requestId: answer.headers.get("x-request-id"),
      },
    });
    expect(await getRun(system, runIdOf(answer))).toMatchObject({ status: "failed" });
  });

  it("of a run that takes longer answers 202 with its id, and the run goes on", async () => {
    const body = { mode: "sync", maxExecutionTimeMs: 1_000 };
    const answer = await postRun(system, slowId, body);
    expect(answer.status).toBe(202);
    expect(answer.data).toEqual({
      ...names(slowId),
      status: "running",
      mode: "async",
      timed_out: true,
      message: expect.any(String),
    });
    const run = await waitForRun(system, runIdOf(answer));
    expect(run).toMatchObject({ status: "completed", output: "late" });
  });

  it("of a run that takes longer answers 408 when asked for an error, and the run goes on (D25)", async () => {
    const body = { mode: "sync", maxExecutionTimeMs: 1_000, onTimeout: "throw_error" };
    const answer = await postRun(system, slowId, body);
    expect(answer.status).toBe(408);
    expect(answer.error).toMatchObject({
      code: "EXECUTION_TIMEOUT",
      details: { run_id: RUN_ID, workflow_id: slowId, maxExecutionTimeMs: 1_000 },
    });
    const id = await waitForFirstRun(system, slowId);
    expect(answer.error?.details).toMatchObject({ run_id: id });
    expect(await waitForRun(system, id)).toMatchObject({ status: "completed" });
  });

  it("says suspended of a run that sleeps when the time is over (D25)", async () => {
    const id = await createActive(system, { steps: [delay("sleep", 60_000)] });
    const answer = await postRun(system, id, { mode: "sync", maxExecutionTimeMs: 1_000 });
    expect(answer).toMatchObject({ status: 202, data: { status: "suspended", timed_out: true } });
    await system.call("POST", `/runs/${runIdOf(answer)}/cancel`);
  });

  it("of a run that is cancelled meanwhile answers as for one that failed", async () => {
    const id = await createActive(system, { steps: [delay("sleep", 60_000)] });
    const waiting = postRun(system, id, { mode: "sync", onFailure: "switch_to_async" });
    const runId = await waitForFirstRun(system, id);
    await system.call("POST", `/runs/${runId}/cancel`);
    const answer = await waiting;
    expect(answer).toMatchObject({
      status: 202,
      data: { run_id: runId, status: "cancelled", error: { code: "TRIGGER_ERROR" } },
    });
  });

  it("waits for many runs at the same time", async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        postRun(system, quickId, { mode: "sync", input: { n } }),
      ),
    );
    for (const [n, answer] of answers.entries()) {
      expect(answer).toMatchObject({ status: 200, data: { output: { got: { n } } } });
    }
  });
});

describe("the body of a start", () => {
  it.each<[string, unknown]>([
    ["input", []],
    ["input", "text"],
    ["input", 5],
    ["input", null],
    ["mode", "later"],
    ["mode", null],
    ["maxExecutionTimeMs", 999],
    ["maxExecutionTimeMs", 300_001],
    ["maxExecutionTimeMs", 1_000.5],
    ["maxExecutionTimeMs", "1000"],
    ["onTimeout", "shrug"],
    ["onFailure", "shrug"],
    ["connectionId", 5],
    ["idempotencyKey", ""],
    ["idempotencyKey", 5],
    ["idempotencyKey", "x".repeat(256)],
  ])("must not have %s = %j", async (field, value) => {
    const answer = await postRun(system, quickId, { mode: "sync", [field]: value });
    expect(answer.status).toBe(400);
    expect(answer.error).toMatchObject({
      code: "BAD_REQUEST",
      details: [{ path: [field], message: expect.any(String) }],
    });
  });

  it.each([1_000, 300_000])("may have maxExecutionTimeMs = %i", async (maxExecutionTimeMs) => {
    const answer = await postRun(system, quickId, { mode: "sync", maxExecutionTimeMs });
    expect(answer.status).toBe(200);
  });

  it("is judged before the workflow is looked for (D2)", async () => {
    const answer = await postRun(system, "0197f2a0-0000-7000-8000-000000000000", { mode: "x" });
    expect(answer.status).toBe(400);
  });
});

describe("the inputSchema", () => {
  const inputSchema = {
    type: "object",
    required: ["customer"],
    properties: {
      customer: {
        type: "object",
        required: ["email"],
        properties: { email: { type: "string", format: "email" } },
      },
      lines: {
        type: "array",
        items: { type: "object", properties: { count: { type: "integer" } } },
      },
    },
  };
  let id: string;

  beforeAll(async () => {
    id = await createActive(system, { inputSchema, steps: [transform("out", "{{input}}")] });
  });

  it.each<[unknown, string[]]>([
    [{}, ["customer"]],
    [{ customer: {} }, ["customer", "email"]],
    [{ customer: { email: 5 } }, ["customer", "email"]],
    [{ customer: { email: "nobody" } }, ["customer", "email"]],
    [
      { customer: { email: "a@b.example" }, lines: [{ count: 1 }, { count: "x" }] },
      ["lines", "1", "count"],
    ],
  ])("refuses %j with the place", async (input, path) => {
    const answer = await postRun(system, id, { input });
    expect(answer.status).toBe(400);
    expect(answer.error).toMatchObject({
      code: "VALIDATION_ERROR",
      details: expect.arrayContaining([{ path, message: expect.any(String) }]),
    });
  });

  it("refuses a start without input when it asks for something", async () => {
    expect(await postRun(system, id)).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR" },
    });
  });

  it("lets pass what fits", async () => {
    const input = { customer: { email: "a@b.example" }, lines: [{ count: 1 }], more: true };
    const answer = await postRun(system, id, { mode: "sync", input });
    expect(answer).toMatchObject({ status: 200, data: { output: input } });
  });

  it("starts nothing when it refuses", async () => {
    const before = await system.call("GET", `/workflows/${id}/runs`);
    await postRun(system, id, { input: {} });
    expect((await system.call("GET", `/workflows/${id}/runs`)).data).toEqual(before.data);
  });

  it("survives a pattern that would take a backtracking engine for ever", async () => {
    const evil = await createActive(system, {
      inputSchema: { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } },
    });
    const answer = await postRun(system, evil, { input: { a: `${"a".repeat(50_000)}!` } });
    expect(answer).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
  });
});

describe("a failed start", () => {
  it("of a workflow that is active says so with the reason of the step", async () => {
    const run = await waitForRun(system, await startRun(system, failingId));
    expect(run.error).toMatchObject({ code: "CONNECT_FAILED", details: { stepId: "call" } });
  });
});
