import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { AppError } from "@workflow/errors";
import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { StartRunRequest } from "@workflow/proto/runs/v1/starts";
import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import { createApiKey } from "../src/admin/index.ts";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeStarted, makeWorkflow, RUN_ID, WORKFLOW_ID } from "./support/messages.ts";

const MIB = 1024 * 1024;
const PATH = `/api/v1/workflows/${WORKFLOW_ID}/run`;
const ALIASES = { runId: RUN_ID, workflowId: WORKFLOW_ID, workflowVersion: 3 };

describe("POST /workflows/{id}/run", () => {
  let test: TestGateway;
  let requests: StartRunRequest[];

  beforeAll(async () => {
    test = await startTestGateway();
  });
  afterAll(() => test.close());
  beforeEach(() => {
    requests = [];
    answerWith({});
  });

  function answerWith(run: Partial<Run>, outcome: Parameters<typeof makeStarted>[1] = {}): void {
    test.backends.runs.startRun = async (request) => {
      requests.push(request);
      return makeStarted(run, outcome);
    };
  }

  const start = (body?: unknown, headers: Record<string, string> = {}) =>
    call(test, "POST", PATH, { body, headers: { "x-request-id": "start-1", ...headers } });

  it.each([undefined, {}, { mode: "async", input: {} }])(
    "answers 202 with a pending run by default: %j",
    async (body) => {
      const answer = await start(body);
      expect(answer.status).toBe(202);
      expect(answer.body).toEqual({
        success: true,
        data: {
          run_id: RUN_ID,
          status: "pending",
          workflow_id: WORKFLOW_ID,
          mode: "async",
          ...ALIASES,
        },
      });
      expect(requests[0]).toMatchObject({ waitMs: 0, triggerType: TriggerType.API });
    },
  );

  it("hands the input on as it was sent", async () => {
    await start('{"input": {"__proto__":1, "n": 1.50} , "connectionId":"conn_1"}');
    expect(requests).toMatchObject([
      { inputJson: '{"__proto__":1, "n": 1.50}', connectionId: "conn_1" },
    ]);
  });

  it("answers a completed sync run with its output, untouched", async () => {
    const outputJson = '{"__proto__":{"a":1},"big":12345678901234567890}';
    answerWith({ status: RunStatus.COMPLETED, outputJson, durationMs: 12 });
    const answer = await start({ mode: "sync" });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      data: {
        run_id: RUN_ID,
        status: "completed",
        workflow_id: WORKFLOW_ID,
        mode: "sync",
        duration_ms: 12,
        ...ALIASES,
      },
    });
    expect(answer.text).toContain(`"output":${outputJson}`);
    expect(requests[0]?.waitMs).toBe(30_000);
  });

  it("waits as long as asked, and gives the service the time to do so", async () => {
    let remainingMs = 0;
    test.backends.runs.startRun = async (request, { deadline }) => {
      requests.push(request);
      remainingMs = deadline.getTime() - Date.now();
      return makeStarted({ status: RunStatus.COMPLETED });
    };
    await start({ mode: "sync", maxExecutionTimeMs: 300_000 });
    expect(requests[0]?.waitMs).toBe(300_000);
    expect(remainingMs).toBeGreaterThan(300_000);
  });

  it.each([
    [RunStatus.PENDING, "running"],
    [RunStatus.RUNNING, "running"],
    [RunStatus.WAITING_APPROVAL, "waiting_approval"],
    [RunStatus.SUSPENDED, "suspended"],
  ])("answers a sync timeout with 202 and the run's status: %d as %s", async (status, name) => {
    answerWith({ status }, { timedOut: true });
    const answer = await start({ mode: "sync", maxExecutionTimeMs: 1000 });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      success: true,
      data: {
        run_id: RUN_ID,
        status: name,
        workflow_id: WORKFLOW_ID,
        mode: "async",
        timed_out: true,
        message: expect.any(String),
        ...ALIASES,
      },
    });
  });

  it("answers a sync timeout with 408 on request", async () => {
    answerWith({ status: RunStatus.RUNNING }, { timedOut: true });
    const answer = await start({
      mode: "sync",
      maxExecutionTimeMs: 1000,
      onTimeout: "throw_error",
    });
    expect(answer.status).toBe(408);
    expect(answer.body).toEqual({
      success: false,
      error: {
        code: "EXECUTION_TIMEOUT",
        message: expect.any(String),
        details: { run_id: RUN_ID, workflow_id: WORKFLOW_ID, maxExecutionTimeMs: 1000 },
        requestId: "start-1",
      },
    });
  });

  const crash = {
    status: RunStatus.FAILED,
    error: {
      code: "RUNTIME_ERROR",
      message: "The run was taken over too often.",
      detailsJson: '{"triggerStatus":"CRASHED","triggerErrorCode":"LEASE_LOST","other":1}',
    },
  };
  const crashBody = {
    code: "TRIGGER_ERROR",
    message: "The run was taken over too often.",
    details: {
      run_id: RUN_ID,
      workflow_id: WORKFLOW_ID,
      status: "failed",
      errorCode: "RUNTIME_ERROR",
      triggerStatus: "CRASHED",
      triggerErrorCode: "LEASE_LOST",
    },
    requestId: "start-1",
  };

  it("answers a failed sync run with 500 TRIGGER_ERROR", async () => {
    answerWith(crash);
    const answer = await start({ mode: "sync" });
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({ success: false, error: crashBody });
  });

  it("answers a failed sync run with 202 and the same error on request", async () => {
    answerWith(crash);
    const answer = await start({ mode: "sync", onFailure: "switch_to_async" });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      success: true,
      data: {
        run_id: RUN_ID,
        status: "failed",
        workflow_id: WORKFLOW_ID,
        mode: "async",
        error: crashBody,
        ...ALIASES,
      },
    });
  });

  it.each([
    [RunStatus.CANCELLED, "cancelled"],
    [RunStatus.TIMEOUT, "timeout"],
  ])("takes a run that ended otherwise while it waited for failed: %d", async (status, name) => {
    answerWith({ status });
    const answer = await start({ mode: "sync" });
    expect(answer.status).toBe(500);
    expect(answer.body).toMatchObject({
      error: { code: "TRIGGER_ERROR", details: { status: name } },
    });
  });

  it("goes by the status of a run that ended in the last moment", async () => {
    answerWith({ status: RunStatus.COMPLETED, outputJson: "1" }, { timedOut: true });
    expect((await start({ mode: "sync" })).status).toBe(200);
  });

  it.each(["async", "sync"])("answers a repeated start with 200 and the run: %s", async (mode) => {
    answerWith({ status: RunStatus.RUNNING }, { existing: true });
    const answer = await start({ mode, idempotencyKey: "k1" });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      data: {
        run_id: RUN_ID,
        status: "running",
        workflow_id: WORKFLOW_ID,
        message: expect.any(String),
        ...ALIASES,
      },
    });
  });

  it("takes the idempotency key from the body, or else from the header (D25)", async () => {
    const header = (key: string) => ({ "idempotency-key": key });
    await start({ idempotencyKey: "k1" });
    await start(undefined, header("k2"));
    await start({ idempotencyKey: "k3" }, header("other"));
    await start({ idempotencyKey: "k4" }, header("x".repeat(256)));
    expect(requests.map((request) => request.idempotencyKey)).toEqual(["k1", "k2", "k3", "k4"]);
    const answer = await start({}, header("x".repeat(256)));
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { details: [{ path: ["idempotencyKey"] }] } });
  });

  it.each([
    ["input", [1]],
    ["input", "text"],
    ["input", null],
    ["connectionId", 5],
    ["idempotencyKey", ""],
    ["idempotencyKey", "x".repeat(256)],
    ["mode", "later"],
    ["maxExecutionTimeMs", 999],
    ["maxExecutionTimeMs", 300_001],
    ["maxExecutionTimeMs", 1000.5],
    ["maxExecutionTimeMs", "5000"],
    ["onTimeout", "explode"],
    ["onFailure", true],
  ])("refuses %s %j", async (field, value) => {
    for (const mode of ["sync", "async"]) {
      const answer = await start({ mode, [field]: value });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({
        error: { code: "BAD_REQUEST", details: [{ path: [field] }] },
      });
    }
    expect(requests).toEqual([]);
  });

  it("takes an input of 1 MiB, and refuses a larger one or a body over 2 MiB with 413", async () => {
    const fitting = { text: "x".repeat(MIB - '{"text":""}'.length) };
    expect((await start({ input: fitting })).status).toBe(202);
    expect((await start({ input: { text: `${fitting.text}x` } })).status).toBe(413);
    expect((await start({ input: { text: "x".repeat(2 * MIB) } })).status).toBe(413);
    expect(requests).toHaveLength(1);
  });

  describe("of a workflow that was never deployed", () => {
    beforeEach(() => {
      test.backends.runs.startRun = async () => {
        throw new AppError("NOT_FOUND", "Workflow not found");
      };
    });

    it("answers 404 when there is no such workflow", async () => {
      test.backends.workflows.getWorkflow = async () => {
        throw new AppError("NOT_FOUND", "Workflow not found");
      };
      const answer = await start({});
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ error: { code: "NOT_FOUND" } });
    });

    it("answers 400 WORKFLOW_NOT_ACTIVE when there is, also to a key that may only run", async () => {
      test.backends.workflows.getWorkflow = async () =>
        makeWorkflow({ status: WorkflowStatus.DRAFT });
      const { key } = await createApiKey(test.database, {
        companyId: test.company.companyId,
        name: "executor",
        scopes: ["workflows:execute"],
      });
      const answer = await call(test, "POST", PATH, { key });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({
        error: { code: "WORKFLOW_NOT_ACTIVE", details: { currentStatus: "draft" } },
      });
    });

    it("asks to come back when the activation has not arrived yet", async () => {
      test.backends.workflows.getWorkflow = async () =>
        makeWorkflow({ status: WorkflowStatus.ACTIVE });
      const answer = await start({});
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("1");
    });
  });
});
