import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { startHttpDouble } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import {
  delay,
  expression,
  httpStep,
  mapping,
  resultsOf,
  startRequest,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let receiver: HttpDouble;

beforeAll(async () => {
  harness = await startRunsHarness();
  // Never answers "/never".
  receiver = await startHttpDouble(({ path }) =>
    path === "/never" ? undefined : { status: path === "/busy" ? 503 : 200 },
  );
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

/** More than a request looks at one by one. */
const MANY = Array.from({ length: 30_000 }, (_, index) => index);

const runSteps = async (steps: readonly unknown[], settings?: object) =>
  harness.runToEnd(await harness.deploy(steps, settings === undefined ? {} : { settings }));

const call = (path: string, config: object = {}, more: object = {}) =>
  httpStep("call", `${receiver.url}${path}`, config, more);

describe("time", () => {
  it("a run that is executed for too long ends with timeout, and its call is cut off", async () => {
    const run = await runSteps([mapping("a", 1), call("/never"), mapping("b", 2)], {
      timeoutMs: 3_000,
    });
    expect(run).toMatchObject({ status: RunStatus.TIMEOUT, error: { code: "RUN_TIMEOUT" } });
    expect(run.durationMs).toBeGreaterThanOrEqual(2_999);
    expect(resultsOf(run).map(({ path }) => path)).toEqual(["a"]);
  });

  it("waiting does not count against a run's timeout (D28)", async () => {
    const retry = {
      maxAttempts: 2,
      backoff: "fixed",
      delayMs: 4_000,
      maxDelayMs: 4_000,
      jitter: false,
    };
    const run = await runSteps(
      [
        delay("wait", 4_000),
        call("/busy", {}, { retry, onError: "continue" }),
        mapping("end", "end"),
      ],
      // Each wait alone is longer; what is executed between them is much shorter, on a busy machine as well.
      { timeoutMs: 3_900 },
    );
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(run.durationMs).toBeGreaterThanOrEqual(8_000);
  });

  it("a step that takes too long fails with TIMEOUT", async () => {
    const run = await runSteps([call("/never", {}, { timeoutMs: 100 })]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "TIMEOUT" } });
  });

  it("a request that takes too long fails with TIMEOUT", async () => {
    const run = await runSteps([call("/never", { timeoutMs: 100 })]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "TIMEOUT" } });
  });
});

describe("size", () => {
  it("an expression's result of more than 4 MiB fails with OUTPUT_TOO_LARGE", async () => {
    const run = await runSteps([expression("big", '$pad("", 4194304, "x")')]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "OUTPUT_TOO_LARGE" } });
  });

  it("templates that make more than 1 MiB fail with TEMPLATE_TOO_LARGE (D19)", async () => {
    const doubling = Array.from({ length: 12 }, (_, index) => {
      const before = index === 0 ? "{{input.seed}}" : `{{steps.s${index - 1}.output}}`;
      return mapping(`s${index}`, before + before);
    });
    const workflowId = await harness.deploy(doubling);
    const run = await harness.runToEnd(workflowId, { seed: "x".repeat(1000) });
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "TEMPLATE_TOO_LARGE" } });
  });

  it.each(["successStatuses", "headers"])(
    "a request with very many %s fails with a message of a line",
    async (key) => {
      const list = key === "headers" ? Object.fromEntries(MANY.map((n) => [n, []])) : MANY;
      const workflowId = await harness.deploy([call("/", { [key]: "{{input.list}}" })]);
      const run = await harness.runToEnd(workflowId, { list });
      expect(run.error).toMatchObject({ code: "INVALID_INPUT" });
      const message = `The request's inputs are not valid: ${key}: has more than 2000 entries`;
      expect(run.error?.message).toBe(message);
    },
  );

  it("many large pure results are stored without being gathered in one piece", async () => {
    const steps = Array.from({ length: 10 }, (_, index) => ({
      ...expression(`big${index}`, ""),
      config: { expression: '$pad("", 2000000, "x")', input: {} },
    }));
    const workflowId = await harness.deploy([...steps, mapping("end", "end")]);
    const { run } = await harness.runs.startRun(
      { ...startRequest(workflowId), waitMs: 25_000 },
      { identity: harness.identity, timeoutMs: 28_000 },
    );
    expect(run).toMatchObject({ status: RunStatus.COMPLETED, outputJson: '"end"' });
    expect((await harness.get(run?.id ?? "")).stepResults).toHaveLength(11);
  });

  it("an output that does not fit the output schema fails with OUTPUT_INVALID", async () => {
    const workflowId = await harness.deploy([mapping("a", { n: "{{input.n}}" })], {
      outputSchema: { type: "object", properties: { n: { type: "number" } } },
    });
    const run = await harness.runToEnd(workflowId, { n: "one" });
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "OUTPUT_INVALID" } });
    expect(JSON.parse(run.error?.detailsJson ?? "{}")).toMatchObject({
      violations: [{ path: ["n"] }],
    });
    expect(run.outputJson).toBeUndefined();
  });
});

describe("a missing secret", () => {
  const retry = { maxAttempts: 5, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };

  it.each([
    ["a config", () => call("/ok", { headers: { "x-key": "{{secrets.ABSENT}}" } }, { retry })],
    ["a mapping", () => mapping("call", "{{secrets.ABSENT}}", { retry })],
    [
      "a step's condition",
      () => mapping("call", 1, { retry, when: { left: "{{secrets.ABSENT}}", operator: "exists" } }),
    ],
  ])(
    "in %s fails the step with MISSING_SECRET at the first attempt (D19)",
    async (_kind, makeStep) => {
      const before = receiver.requests.length;
      const run = await runSteps([makeStep()]);
      expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "MISSING_SECRET" } });
      expect(resultsOf(run)).toMatchObject([{ path: "call", status: "error", attempt: 1 }]);
      expect(receiver.requests).toHaveLength(before);
    },
  );
});

it("a run that fails with an internal error says so and nothing more", async () => {
  const api = await startRunsHarness();
  try {
    const workflowId = await api.deploy([mapping("a", 1)]);
    await api.database.query(sql.unsafe`
      create function runs.refuse() returns trigger language plpgsql as
        'begin raise exception ''a fault of ours''; end'
    `);
    await api.database.query(sql.unsafe`
      create trigger refuse before insert on runs.step_results
        for each row execute function runs.refuse()
    `);
    const runId = await api.start(workflowId);
    const run = await api.waitForEnd(runId);
    expect(run.error).toMatchObject({ code: "RUNTIME_ERROR" });
    expect(JSON.parse(run.error?.detailsJson ?? "{}")).toEqual({ triggerStatus: "SYSTEM_FAILURE" });
  } finally {
    await api.close();
  }
});
