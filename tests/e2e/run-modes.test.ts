import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase, startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble, TestDatabase } from "@workflow/testkit";
import { z } from "zod";
import { callApi } from "../support/api-client.ts";
import type { Answer } from "../support/api-client.ts";
import {
  createActive,
  delay,
  getRun,
  listRuns,
  postRun,
  runIdOf,
  transform,
  waitForFirstRun,
  waitForRun,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let testDatabase: TestDatabase;
let database: Database;
let outside: HttpDouble;
let released: Promise<void> = Promise.resolve();
let system: WholeSystem;

beforeAll(async () => {
  // Requests of /stall are never answered, those of /held when a test says so.
  outside = await startHttpDouble(async ({ path }) => {
    if (path === "/held") await released;
    return path === "/stall" ? undefined : {};
  });
  testDatabase = await createTestDatabase();
  database = await openDatabase({
    connectionUri: testDatabase.connectionUri,
    applicationName: "test",
  });
  system = await startWholeSystem({ databaseUrl: testDatabase.connectionUri });
});
afterAll(async () => {
  await system.stop();
  await database.end();
  await testDatabase.close();
  await outside.close();
});

function request(path: string) {
  return {
    id: "call",
    type: "action",
    name: "call",
    action: "http.request",
    config: { method: "POST", url: outside.url + path },
  };
}

/** Starts synchronously and says which run that was while the caller still waits. */
async function beginSync(
  workflowId: string,
  options: Record<string, unknown> = {},
): Promise<{ runId: string; answer: Promise<Answer> }> {
  const answer = postRun(system, workflowId, { mode: "sync", ...options });
  return { runId: await waitForFirstRun(system, workflowId), answer };
}

/** What TRIGGER_ERROR says of a run: the contract's fields, and how it ended. */
function triggerError(workflowId: string, runId: string, details: Record<string, unknown>) {
  return {
    code: "TRIGGER_ERROR",
    message: expect.any(String),
    details: { run_id: runId, workflow_id: workflowId, ...details },
    requestId: expect.any(String),
  };
}

describe("a synchronous start whose run does not come to its own end", () => {
  it("answers 500 when the run is cancelled while the caller waits", async () => {
    const id = await createActive(system, { steps: [delay("sleep", 60_000)] });
    const { runId, answer } = await beginSync(id);
    expect((await system.call("POST", `/runs/${runId}/cancel`)).status).toBe(200);
    const { status, error } = await answer;
    expect(status).toBe(500);
    expect(error).toEqual(triggerError(id, runId, { status: "cancelled" }));
  });

  it.each(["throw_error", "switch_to_async"])(
    "tells of the run's own timeout as of a failure: %s",
    async (onFailure) => {
      const id = await createActive(system, {
        steps: [request("/stall")],
        settings: { timeoutMs: 300 },
      });
      const answer = await postRun(system, id, { mode: "sync", onFailure });
      const runId = await waitForFirstRun(system, id);
      const error = triggerError(id, runId, { status: "timeout", errorCode: "RUN_TIMEOUT" });
      if (onFailure === "throw_error") {
        expect(answer).toMatchObject({ status: 500, error });
      } else {
        expect(answer).toMatchObject({
          status: 202,
          data: { run_id: runId, status: "timeout", mode: "async", error },
        });
        expect(answer.data).not.toHaveProperty("timed_out");
      }
      expect(await getRun(system, runId)).toMatchObject({ status: "timeout" });
    },
  );

  it("names the runtime's status and code when the platform failed (D30)", async () => {
    const id = await createActive(system, { steps: [delay("sleep", 6_000)] });
    const { runId, answer } = await beginSync(id);
    await waitForRun(system, runId, ["suspended"]);
    // As after five workers that died with it.
    await database.query(sql.type(z.object({}))`
      update runs.tasks set takeovers = 6, due_at = now() where run_id = ${runId}
    `);
    const { status, error } = await answer;
    expect(status).toBe(500);
    expect(error).toEqual(
      triggerError(id, runId, {
        status: "failed",
        errorCode: "RUNTIME_ERROR",
        triggerStatus: "CRASHED",
        triggerErrorCode: "LEASE_LOST",
      }),
    );
    expect(await getRun(system, runId)).toMatchObject({
      status: "failed",
      error: { details: { triggerStatus: "CRASHED", triggerErrorCode: "LEASE_LOST" } },
    });
  });
});

describe("a synchronous start that takes longer than its caller waits", () => {
  it("says waiting_approval when the run waits for one (D25)", async () => {
    const approval = { id: "ask", type: "approval", name: "ask", config: { message: "Sure?" } };
    const id = await createActive(system, { steps: [approval] });
    const answer = await postRun(system, id, { mode: "sync", maxExecutionTimeMs: 5_000 });
    expect(answer).toMatchObject({
      status: 202,
      data: { status: "waiting_approval", mode: "async", timed_out: true },
    });
    await system.call("POST", `/runs/${runIdOf(answer)}/cancel`);
  });

  it("says running when the run waits in the queue of its workflow (D15)", async () => {
    const id = await createActive(system, {
      steps: [delay("sleep", "{{input.ms}}")],
      settings: { concurrency: { limit: 1 } },
    });
    const holder = runIdOf(await postRun(system, id, { input: { ms: 60_000 } }));
    await waitForRun(system, holder, ["suspended"]);
    const body = { mode: "sync", maxExecutionTimeMs: 1_000, input: { ms: 0 } };
    const answer = await postRun(system, id, body);
    expect(answer).toMatchObject({ status: 202, data: { status: "running", timed_out: true } });
    expect(await getRun(system, runIdOf(answer))).toMatchObject({
      status: "pending",
      startedAt: null,
    });
    await system.call("POST", `/runs/${holder}/cancel`);
    await waitForRun(system, runIdOf(answer), ["completed"]);
  });

  it("ends early with what the run comes to, not with the time", async () => {
    const id = await createActive(system, { steps: [delay("sleep", 1_500), transform("out", 1)] });
    const body = { mode: "sync", maxExecutionTimeMs: 300_000, onTimeout: "throw_error" };
    const answer = await postRun(system, id, body);
    expect(answer).toMatchObject({ status: 200, data: { output: 1 } });
  });
});

describe("workflow.respond", () => {
  it("ends a synchronous run with its output", async () => {
    const id = await createActive(system, {
      steps: [
        {
          id: "answer",
          type: "action",
          name: "answer",
          action: "workflow.respond",
          config: { output: { total: "{{input.total}}" } },
        },
        delay("never", 60_000),
      ],
    });
    const answer = await postRun(system, id, { mode: "sync", input: { total: 5 } });
    expect(answer).toMatchObject({
      status: 200,
      data: { status: "completed", output: { total: 5 } },
    });
  });
});

describe("a caller that hangs up while it waits", () => {
  it("leaves a run that goes on, and a service that goes on answering", async () => {
    const release = Promise.withResolvers<void>();
    released = release.promise;
    const id = await createActive(system, { steps: [request("/held"), transform("out", 1)] });
    const controller = new AbortController();
    const hangUps = Array.from({ length: 20 }, async () => {
      const response = fetch(`${system.origin}/api/v1/workflows/${id}/run`, {
        method: "POST",
        headers: { "x-api-key": system.acme.key, "content-type": "application/json" },
        body: JSON.stringify({ mode: "sync" }),
        signal: controller.signal,
      });
      await expect(response).rejects.toThrow("aborted");
    });
    const count = async (query: string): Promise<number> => {
      const { data } = await system.call("GET", `/workflows/${id}/runs${query}`);
      return Array.isArray(data) ? data.length : 0;
    };
    await waitFor(async () => (await count("")) === 20);
    controller.abort();
    await Promise.all(hangUps);
    release.resolve();
    await waitFor(async () => (await count("?status=completed")) === 20);
    expect(await postRun(system, id, { mode: "sync" })).toMatchObject({ status: 200 });
  });
});

describe("callers that wait when their gateway stops", () => {
  it("are told which run goes on, whatever they wanted of a timeout, and it does", async () => {
    const release = Promise.withResolvers<void>();
    released = release.promise;
    const id = await createActive(system, { steps: [request("/held"), transform("out", 1)] });
    const gateway = await system.startGateway();
    const waiting = [
      ...Array.from({ length: 20 }, () => startAt(gateway.origin, id, "return_run_id")),
      startAt(gateway.origin, id, "throw_error"),
    ];
    const runs = async (query = "") => listRuns(system, `/workflows/${id}/runs${query}`);
    await waitFor(async () => (await runs()).items.length === 21);
    await gateway.stop();
    const answers = await Promise.all(waiting);
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 202,
        data: { status: "running", workflow_id: id, mode: "async", timed_out: true },
      });
      expect(answer.headers.get("connection")).toBe("close");
    }
    const known = new Set(answers.map(runIdOf));
    expect(new Set((await runs()).items.map((run) => run.id))).toEqual(known);
    release.resolve();
    await waitFor(async () => (await runs("?status=completed")).items.length === 21);
  });

  it("are told of runs that wait themselves that they do", async () => {
    const approval = { id: "ask", type: "approval", name: "Ask", config: { message: "?" } };
    const ids = {
      waiting_approval: await createActive(system, { steps: [approval] }),
      suspended: await createActive(system, { steps: [delay("later", 600_000)] }),
    };
    const gateway = await system.startGateway();
    const waiting = Object.entries(ids).flatMap(([status, id]) =>
      ["return_run_id", "throw_error"].map(async (onTimeout) => ({
        status,
        answer: await startAt(gateway.origin, id, onTimeout),
      })),
    );
    await waitFor(async () => {
      const counts = Object.entries(ids).map(async ([status, id]) => {
        const { items } = await listRuns(system, `/workflows/${id}/runs?status=${status}`);
        return items.length;
      });
      return (await Promise.all(counts)).every((count) => count === 2);
    });
    await gateway.stop();
    for (const { status, answer } of await Promise.all(waiting)) {
      expect(answer).toMatchObject({ status: 202, data: { status, timed_out: true } });
    }
  });
});

/** Starts a run at a gateway of its own and waits for its end. */
function startAt(origin: string, workflowId: string, onTimeout: string) {
  return callApi(`${origin}/api/v1/workflows/${workflowId}/run`, "POST", {
    key: system.acme.key,
    body: { mode: "sync", onTimeout, maxExecutionTimeMs: 300_000 },
  });
}
