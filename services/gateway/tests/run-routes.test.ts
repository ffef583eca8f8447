import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { AppError } from "@workflow/errors";
import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import { StepStatus } from "@workflow/proto/runs/v1/steps";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeRun, makeWorkflow, RUN_ID, WORKFLOW_ID } from "./support/messages.ts";

const STARTED = new Date("2026-03-01T10:00:01.000Z");
const ENDED = new Date("2026-03-01T10:00:02.500Z");

const failedRun = () =>
  makeRun({
    status: RunStatus.FAILED,
    triggerType: TriggerType.WEBHOOK,
    taskRuntimeRunId: "task-1",
    inputJson: '{"__proto__":1}',
    startedAt: STARTED,
    completedAt: ENDED,
    durationMs: 1500,
    error: { code: "HTTP_STATUS", message: "Got 500", detailsJson: '{"status":500}' },
    restartedFromRunId: "run_00000000000000000000000000",
    stepResults: [
      {
        stepId: "a",
        path: "loop1[0].a",
        type: "action",
        status: StepStatus.ERROR,
        startedAt: STARTED,
        completedAt: ENDED,
        inputJson: '{"url":"x"}',
        error: { code: "HTTP_STATUS", message: "Got 500", detailsJson: "" },
        attempt: 2,
        previousAttempts: [
          { attempt: 1, startedAt: STARTED, error: { code: "T", message: "m", detailsJson: "" } },
        ],
        reused: true,
      },
      {
        stepId: "b",
        path: "b",
        type: "transform",
        status: StepStatus.SKIPPED,
        startedAt: ENDED,
        completedAt: ENDED,
        attempt: 1,
      },
    ],
  });

const listItem = {
  id: RUN_ID,
  workflowId: WORKFLOW_ID,
  workflowVersion: 3,
  status: "failed",
  triggerType: "webhook",
  startedAt: "2026-03-01T10:00:01.000Z",
  completedAt: "2026-03-01T10:00:02.500Z",
  createdAt: "2026-03-01T10:00:00.120Z",
  durationMs: 1500,
  error: { code: "HTTP_STATUS", message: "Got 500", details: { status: 500 } },
  restartedFromRunId: "run_00000000000000000000000000",
};

const steps = [
  {
    stepId: "a",
    path: "loop1[0].a",
    type: "action",
    status: "error",
    startedAt: "2026-03-01T10:00:01.000Z",
    completedAt: "2026-03-01T10:00:02.500Z",
    durationMs: 1500,
    input: { url: "x" },
    output: null,
    error: { code: "HTTP_STATUS", message: "Got 500" },
    attempt: 2,
    previousAttempts: [
      {
        attempt: 1,
        startedAt: "2026-03-01T10:00:01.000Z",
        error: { code: "T", message: "m" },
      },
    ],
    reused: true,
  },
  {
    stepId: "b",
    path: "b",
    type: "transform",
    status: "skipped",
    startedAt: "2026-03-01T10:00:02.500Z",
    completedAt: "2026-03-01T10:00:02.500Z",
    durationMs: 0,
    input: null,
    output: null,
    error: null,
    attempt: 1,
  },
];

describe("run routes", () => {
  let test: TestGateway;

  beforeAll(async () => {
    test = await startTestGateway();
  });
  afterAll(() => test.close());
  beforeEach(() => {
    test.backends.calls.length = 0;
    test.backends.runs.listRuns = async () => ({
      runs: [failedRun()],
      page: { cursor: "next", hasMore: true },
    });
    test.backends.workflows.getWorkflow = async () => makeWorkflow();
  });

  it("GET shows a run in full", async () => {
    test.backends.runs.getRun = async () => failedRun();
    const answer = await call(test, "GET", `/api/v1/runs/${RUN_ID}`);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('"input":{"__proto__":1}');
    const { data } = JSON.parse(answer.text.replace('{"__proto__":1}', '"i"'));
    expect(data).toEqual({
      ...listItem,
      triggerRuntimeRunId: "task-1",
      input: "i",
      output: null,
      stepResults: steps,
    });
  });

  it("GET tells of a long run in pieces, and cuts the connection when it breaks off", async () => {
    const results = failedRun().stepResults.map((result) => ({
      ...result,
      outputJson: JSON.stringify("x".repeat(300_000)),
    }));
    let pieces = 2;
    let isBroken = false;
    const { readRun } = test.backends.runs;
    test.backends.runs.readRun = async function* () {
      if (pieces === 0) throw new AppError("UNAVAILABLE", "Gone.");
      yield { part: { $case: "run", value: makeRun({ inputJson: "{}" }) } };
      for (let count = 0; count < pieces; count += 1) {
        yield { part: { $case: "steps", value: { results } } };
      }
      if (isBroken) throw new AppError("UNAVAILABLE", "Gone.");
    };
    const url = `/api/v1/runs/${RUN_ID}`;
    const whole = await call(test, "GET", url);
    expect(JSON.parse(whole.text).data.stepResults).toHaveLength(2 * results.length);
    isBroken = true;
    await expect(call(test, "GET", url)).rejects.toThrow();
    pieces = 0;
    expect(await call(test, "GET", url)).toMatchObject({ status: 503 });
    test.backends.runs.readRun = readRun;
  });

  it("GET shows null for what a fresh run does not have yet", async () => {
    test.backends.runs.getRun = async () => makeRun({ inputJson: "{}" });
    expect((await call(test, "GET", `/api/v1/runs/${RUN_ID}`)).body).toEqual({
      success: true,
      data: {
        id: RUN_ID,
        workflowId: WORKFLOW_ID,
        workflowVersion: 3,
        triggerRuntimeRunId: null,
        status: "pending",
        triggerType: "api",
        input: {},
        output: null,
        stepResults: [],
        startedAt: null,
        completedAt: null,
        createdAt: "2026-03-01T10:00:00.120Z",
        durationMs: null,
        error: null,
      },
    });
  });

  it("GET logs shows the step results and the outcome", async () => {
    test.backends.runs.getRun = async () => failedRun();
    expect((await call(test, "GET", `/api/v1/runs/${RUN_ID}/logs`)).body).toEqual({
      success: true,
      data: {
        runId: RUN_ID,
        workflowId: WORKFLOW_ID,
        triggerRuntimeRunId: "task-1",
        status: "failed",
        logs: steps,
        startedAt: listItem.startedAt,
        completedAt: listItem.completedAt,
        durationMs: 1500,
        error: listItem.error,
      },
    });
  });

  it("cancel answers the run's id and status", async () => {
    test.backends.runs.cancelRun = async () => makeRun({ status: RunStatus.CANCELLED });
    const answer = await call(test, "POST", `/api/v1/runs/${RUN_ID}/cancel`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      data: { id: RUN_ID, status: "cancelled", message: expect.any(String) },
    });
  });

  it("cancel of a run that has ended is 400 INVALID_STATE", async () => {
    test.backends.runs.cancelRun = async () => {
      throw new AppError("INVALID_STATE", "Ended", { details: { currentStatus: "completed" } });
    };
    const answer = await call(test, "POST", `/api/v1/runs/${RUN_ID}/cancel`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: { code: "INVALID_STATE", details: { currentStatus: "completed" } },
    });
  });

  it("GET lists runs without what is large", async () => {
    const answer = await call(test, "GET", "/api/v1/runs");
    expect(answer.body).toEqual({
      success: true,
      data: [listItem],
      meta: { cursor: "next", hasMore: true },
    });
  });

  it("GET hands all filters on", async () => {
    await call(
      test,
      "GET",
      `/api/v1/runs?workflowId=${WORKFLOW_ID}&status=timeout&triggerType=schedule&tag=a%20b` +
        "&createdAfter=2026-01-01T00:00:00Z&createdBefore=2026-02-01T01:00:00.5%2B01:00&limit=100&cursor=c",
    );
    expect(test.backends.calls.at(-1)?.request).toEqual({
      workflowId: WORKFLOW_ID,
      statuses: [RunStatus.TIMEOUT],
      triggerType: TriggerType.SCHEDULE,
      createdAfter: new Date("2026-01-01T00:00:00.000Z"),
      createdBefore: new Date("2026-02-01T00:00:00.500Z"),
      tag: "a b",
      page: { limit: 100, cursor: "c" },
    });
  });

  it("GET takes status=active for pending, running and waiting_approval", async () => {
    await call(test, "GET", "/api/v1/runs?status=active");
    expect(test.backends.calls.at(-1)?.request).toMatchObject({
      statuses: [RunStatus.PENDING, RunStatus.RUNNING, RunStatus.WAITING_APPROVAL],
    });
  });

  it("GET lists nothing for a workflow id that cannot exist", async () => {
    const answer = await call(test, "GET", "/api/v1/runs?workflowId=nonsense");
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      data: [],
      meta: { cursor: null, hasMore: false },
    });
  });

  describe("of one workflow", () => {
    const path = `/api/v1/workflows/${WORKFLOW_ID}/runs`;

    it("are listed by its id", async () => {
      const answer = await call(test, "GET", `${path}?status=failed`);
      expect(answer.body).toMatchObject({ data: [listItem], meta: { hasMore: true } });
      const request = test.backends.calls.find(({ method }) => method === "listRuns")?.request;
      expect(request).toMatchObject({ workflowId: WORKFLOW_ID, statuses: [RunStatus.FAILED] });
    });

    it("are 404 when there is no such workflow", async () => {
      test.backends.runs.listRuns = async () => ({ runs: [], page: undefined });
      test.backends.workflows.getWorkflow = async () => {
        throw new AppError("NOT_FOUND", "Workflow not found");
      };
      expect((await call(test, "GET", path)).status).toBe(404);
    });

    it("are 400 for a bad cursor, whether there is such a workflow or not", async () => {
      test.backends.runs.listRuns = async () => {
        throw new AppError("BAD_REQUEST", "bad cursor");
      };
      test.backends.workflows.getWorkflow = async () => {
        throw new AppError("NOT_FOUND", "Workflow not found");
      };
      expect((await call(test, "GET", `${path}?cursor=x`)).status).toBe(400);
    });
  });
});
