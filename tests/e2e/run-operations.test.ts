import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import type { Answer } from "../support/api-client.ts";
import {
  createActive,
  delay,
  getRun,
  runToEnd,
  startRun,
  transform,
  waitForRun,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let receiver: HttpDouble;
let broken: boolean;

beforeAll(async () => {
  system = await startWholeSystem();
  receiver = await startHttpDouble((request, response) => {
    const fails = broken && request.path === "/fragile";
    response.writeHead(fails ? 500 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ path: request.path }));
  });
});
afterAll(async () => {
  await system.stop();
  await receiver.close();
});

const restarted = z.strictObject({
  originalRunId: z.string(),
  newRunId: z.string(),
  workflowId: z.string(),
  restartFromStepId: z.string(),
  status: z.literal("pending"),
  createdAt: z.string(),
});
const bulkResults = z.strictObject({
  results: z.array(
    z.strictObject({
      runId: z.string(),
      success: z.boolean(),
      newRunId: z.string().optional(),
      error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
    }),
  ),
});

const call = (id: string, path = `/${id}`) => ({
  id,
  type: "action",
  name: id,
  action: "http.request",
  config: { method: "POST", url: `${receiver.url}${path}` },
});

async function failedRun(): Promise<{ workflowId: string; runId: string }> {
  const workflowId = await createActive(system, {
    steps: [
      transform("first", "{{input.word}}"),
      call("fragile"),
      transform("last", "{{steps.first.output}}"),
    ],
  });
  broken = true;
  const run = await runToEnd(system, workflowId, { word: "kept" });
  expect(run.status).toBe("failed");
  broken = false;
  return { workflowId, runId: run.id };
}

describe("POST /runs/{id}/retry", () => {
  it("answers 202 with a new run that goes on where the old one failed", async () => {
    const { workflowId, runId } = await failedRun();
    const answer = await system.call("POST", `/runs/${runId}/retry`);
    expect(answer.status).toBe(202);
    const data = restarted.parse(answer.data);
    expect(data).toMatchObject({ originalRunId: runId, workflowId, restartFromStepId: "fragile" });
    await waitFor(async () => {
      const { data: run } = await system.call("GET", `/runs/${data.newRunId}`);
      return z.looseObject({ status: z.string() }).parse(run).status === "completed";
    });
    const { data: run } = await system.call("GET", `/runs/${data.newRunId}`);
    expect(run).toMatchObject({
      restartedFromRunId: runId,
      input: { word: "kept" },
      output: "kept",
      stepResults: [{ stepId: "first", reused: true }, { stepId: "fragile" }, { stepId: "last" }],
    });
  });

  it("refuses a completed run with INVALID_STATE and its status", async () => {
    const workflowId = await createActive(system);
    const run = await runToEnd(system, workflowId, { name: "x" });
    expect(await system.call("POST", `/runs/${run.id}/retry`)).toMatchObject({
      status: 400,
      error: { code: "INVALID_STATE", details: { currentStatus: "completed" } },
    });
  });
});

describe("POST /runs/{id}/restart", () => {
  it("answers 202 with a new run from the step on, with the input overridden", async () => {
    const { runId } = await failedRun();
    const body = { fromStepId: "first", overrideInput: { word: "new" } };
    const answer = await system.call("POST", `/runs/${runId}/restart`, { body });
    expect(answer.status).toBe(202);
    const { newRunId } = restarted.parse(answer.data);
    await waitFor(async () => {
      const { data } = await system.call("GET", `/runs/${newRunId}`);
      return z.looseObject({ output: z.unknown() }).parse(data).output === "new";
    });
  });

  it.each([
    [{}, "BAD_REQUEST", [{ path: ["fromStepId"] }]],
    [{ fromStepId: "" }, "BAD_REQUEST", [{ path: ["fromStepId"] }]],
    [{ fromStepId: 3 }, "BAD_REQUEST", [{ path: ["fromStepId"] }]],
    [{ fromStepId: "first", overrideInput: [] }, "BAD_REQUEST", [{ path: ["overrideInput"] }]],
    [{ fromStepId: "missing" }, "INVALID_STEP", { fromStepId: "missing" }],
  ])("answers %j with 400 %s", async (body, code, details) => {
    const { runId } = await failedRun();
    const answer = await system.call("POST", `/runs/${runId}/restart`, { body });
    expect(answer).toMatchObject({ status: 400, error: { code, details } });
  });

  it("answers 400 VALIDATION_ERROR to an override with which the input does not fit its schema", async () => {
    const workflowId = await createActive(system, {
      inputSchema: { type: "object", properties: { word: { type: "string" } } },
      steps: [transform("first", "{{input.word}}")],
    });
    const { id } = await runToEnd(system, workflowId, { word: "fits" });
    const body = { fromStepId: "first", overrideInput: { word: 7 } };
    expect(await system.call("POST", `/runs/${id}/restart`, { body })).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR", details: [{ path: ["word"] }] },
    });
  });
});

describe("POST /runs/bulk", () => {
  it("cancels and retries by ids and by filter, each run for itself", async () => {
    const { workflowId: failing, runId: failed } = await failedRun();
    const sleeping = await createActive(system, { steps: [delay("sleep", 600_000)] });
    const runIds = [await startRun(system, sleeping), await startRun(system, sleeping)];
    for (const id of runIds) await waitForRun(system, id, ["suspended"]);
    const bulk = async (body: unknown): Promise<Answer> =>
      system.call("POST", "/runs/bulk", { body });

    const cancelled = await bulk({ action: "cancel", runIds: [...runIds, failed, "nothing"] });
    expect(cancelled.status).toBe(200);
    expect(bulkResults.parse(cancelled.data).results).toMatchObject([
      { runId: runIds[0], success: true },
      { runId: runIds[1], success: true },
      { runId: failed, success: false, error: { code: "INVALID_STATE" } },
      { runId: "nothing", success: false, error: { code: "NOT_FOUND" } },
    ]);
    expect((await getRun(system, runIds[0] ?? "")).status).toBe("cancelled");

    const filter = { workflowId: failing, status: "failed", createdAfter: "2020-01-01T00:00:00Z" };
    const retried = await bulk({ action: "retry", filter });
    const [result, ...others] = bulkResults.parse(retried.data).results;
    expect(others).toEqual([]);
    expect(result).toMatchObject({ runId: failed, success: true });
    expect(result?.newRunId).toMatch(/^run_/);
    const unknown = await bulk({ action: "retry", filter: { workflowId: "nothing" } });
    expect(unknown).toMatchObject({ status: 200, data: { results: [] } });
  });

  it.each([
    [{}, ["action"]],
    [{ action: "delete", runIds: ["x"] }, ["action"]],
    [{ action: "cancel" }, []],
    [{ action: "cancel", runIds: ["x"], filter: {} }, []],
    [{ action: "cancel", runIds: [] }, ["runIds"]],
    [{ action: "cancel", runIds: Array.from({ length: 501 }, () => "x") }, ["runIds"]],
    [{ action: "cancel", runIds: [3] }, ["runIds", "0"]],
    [{ action: "cancel", filter: { status: "sleeping" } }, ["filter", "status"]],
    [{ action: "cancel", filter: {} }, ["filter"]],
    [{ action: "cancel", filter: { workflowIdd: "x" } }, ["filter"]],
    [{ action: "cancel", filter: { createdAfter: "yesterday" } }, ["filter", "createdAfter"]],
  ])("answers %j with 400", async (body, path) => {
    const answer = await system.call("POST", "/runs/bulk", { body });
    expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    expect(answer.error?.details).toContainEqual({ path, message: expect.any(String) });
  });
});

describe("GET /runs/{id}/events", () => {
  interface SeenEvent {
    event: string;
    id: string;
    data: Record<string, unknown>;
  }

  /** Every event of a stream that ends by itself. */
  async function readEvents(runId: string, headers: Record<string, string> = {}) {
    const response = await fetch(`${system.origin}/api/v1/runs/${runId}/events`, {
      headers: { "x-api-key": system.acme.key, ...headers },
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const blocks = (await response.text())
      .split("\n\n")
      .filter((each) => each.startsWith("event:"));
    return blocks.map((block): SeenEvent => {
      const fields = new Map(
        block.split("\n").map((line): [string, string] => {
          const colon = line.indexOf(": ");
          return [line.slice(0, colon), line.slice(colon + 2)];
        }),
      );
      const data = z.record(z.string(), z.unknown()).parse(JSON.parse(fields.get("data") ?? ""));
      return { event: fields.get("event") ?? "", id: fields.get("id") ?? "", data };
    });
  }

  it("follows a run to its end, and goes on after an event", async () => {
    const workflowId = await createActive(system, {
      steps: [transform("a", 1), delay("nap", 700), transform("b", "{{steps.a.output}}")],
    });
    const runId = await startRun(system, workflowId);
    const events = await readEvents(runId);
    const steps = events.filter(({ event }) => event === "step");
    expect(steps.map(({ data }) => data["stepId"])).toEqual(["a", "nap", "b"]);
    expect(events.at(-1)).toMatchObject({
      event: "run",
      data: { id: runId, status: "completed", output: 1 },
    });
    const run = await getRun(system, runId);
    expect(steps.map(({ data }) => data)).toEqual(run.stepResults);
    const rest = await readEvents(runId, { "last-event-id": steps[1]?.id ?? "" });
    expect(rest.map(({ event, data }) => [event, data["stepId"] ?? data["status"]])).toEqual([
      ["step", "b"],
      ["run", "completed"],
    ]);
    const done = await fetch(`${system.origin}/api/v1/runs/${runId}/events`, {
      headers: { "x-api-key": system.acme.key, "last-event-id": events.at(-1)?.id ?? "" },
    });
    expect(done.status).toBe(204);
  });

  it("refuses a position that it never gave, and names where it was given", async () => {
    const { id } = await runToEnd(system, await createActive(system), { name: "x" });
    const headers = { "last-event-id": "forged" };
    const ofHeader = await system.call("GET", `/runs/${id}/events?after=forged`, { headers });
    const ofQuery = await system.call("GET", `/runs/${id}/events?after=forged`);
    const refusalOf = (field: string) => ({
      status: 400,
      error: { code: "BAD_REQUEST", details: [{ path: [field] }] },
    });
    expect(ofHeader).toMatchObject(refusalOf("Last-Event-ID"));
    expect(ofQuery).toMatchObject(refusalOf("after"));
  });
});
