import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startHttpDouble, startOtlpCollector, waitFor } from "@workflow/testkit";
import type { CollectedSpan, HttpDouble, OtlpCollector } from "@workflow/testkit";
import { z } from "zod";
import { makeReceived } from "../support/received-webhooks.ts";
import { createActive, postRun, runIdOf, waitForRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let collector: OtlpCollector;
let receiver: HttpDouble;

beforeAll(async () => {
  collector = await startOtlpCollector();
  receiver = await startHttpDouble(({ path }) =>
    path.startsWith("/hang") ? new Promise(() => {}) : { status: 200 },
  );
  system = await startTraced();
  await makeReceived(system, receiver, { events: ["workflow.cancelled"] });
});
afterAll(async () => {
  await system.stop();
  await collector.close();
  await receiver.close();
});

const FINE = { code: 0 };
const APPROVAL = { id: "ask", type: "approval", name: "ask", config: { message: "Sure?" } };

function startTraced(): Promise<WholeSystem> {
  return startWholeSystem({
    tracing: { endpoint: collector.url, sampler: "always_on", ratio: 1 },
  });
}

function get(id: string, path: string): Record<string, unknown> {
  const config = { method: "GET", url: `${receiver.url}${path}` };
  return { id, type: "action", name: id, action: "http.request", config };
}

/** The spans of the trace of a run, once one of them is there. */
function traceOf(runId: string, isThere: (span: CollectedSpan) => boolean) {
  return waitFor(() => {
    const all = collector.spans();
    const ofRun = all.find(({ attributes }) => attributes["workflow.run.id"] === runId);
    const spans = all.filter(({ traceId }) => traceId === ofRun?.traceId);
    return spans.some(isThere) ? spans : null;
  });
}

function executionsIn(spans: readonly CollectedSpan[]) {
  return spans
    .filter(({ name }) => name === "run executes")
    .map(({ status, attributes }) => ({
      status,
      is: attributes["workflow.run.status"],
      error: attributes["error.type"],
    }));
}

async function startHanging(into: WholeSystem, path: string): Promise<string> {
  const runId = runIdOf(
    await postRun(into, await createActive(into, { steps: [get("call", path)] }), {}),
  );
  await waitFor(() => receiver.requests.some((each) => each.path === path));
  await waitForRun(into, runId, ["running"]);
  return runId;
}

describe("the trace of a run that is cancelled", () => {
  it("has no error where a step was under way, and goes on with the event", async () => {
    const runId = await startHanging(system, "/hang-cancelled");
    await system.call("POST", `/runs/${runId}/cancel`);
    await traceOf(runId, ({ name }) => name === "run executes");
    const spans = await traceOf(runId, ({ name }) => name === "webhook delivery");
    expect(executionsIn(spans)).toEqual([{ status: FINE, is: "cancelled", error: undefined }]);
    const steps = spans.filter(({ name }) => name === "step action");
    expect(steps).toMatchObject([{ status: FINE, attributes: { "workflow.step.stopped": true } }]);
    expect(spans.map(({ name }) => name)).toContain("consume workflow.cancelled");
  });

  it("goes on with the event where nothing was executed", async () => {
    const runId = runIdOf(
      await postRun(system, await createActive(system, { steps: [APPROVAL] }), {}),
    );
    await waitForRun(system, runId, ["waiting_approval"]);
    await system.call("POST", `/runs/${runId}/cancel`);
    const spans = await traceOf(runId, ({ name }) => name === "webhook delivery");
    expect(spans.map(({ name }) => name)).toContain("consume workflow.cancelled");
  });
});

it("the trace of a run whose worker is stopped has no error", async () => {
  const stopped = await startTraced();
  let runId = "";
  try {
    runId = await startHanging(stopped, "/hang-stopped");
  } finally {
    await stopped.stop();
  }
  const spans = await traceOf(runId, ({ name }) => name === "run executes");
  expect(executionsIn(spans)).toEqual([{ status: FINE, is: "handed_back", error: undefined }]);
});

it("a run records a thousand attempts and what they call, and nothing beyond, after a wait either", async () => {
  const each = {
    id: "each",
    type: "loop",
    name: "each",
    config: { count: 1_010, maxIterations: 1_010, steps: [get("call", "/counted")] },
  };
  const workflowId = await createActive(system, {
    steps: [each, APPROVAL, get("after", "/counted")],
  });
  const runId = runIdOf(await postRun(system, workflowId, {}));
  await waitForRun(system, runId, ["waiting_approval"]);
  const { data } = await system.call("GET", `/runs/${runId}/approvals`);
  const [{ id } = { id: "" }] = z.array(z.object({ id: z.string() })).parse(data);
  await system.call("POST", `/runs/${runId}/approvals/${id}`, { body: { decision: "approved" } });
  await waitForRun(system, runId);
  const sent = receiver.requests.filter(({ path }) => path === "/counted");
  expect(sent).toHaveLength(1_011);
  // The loop is an attempt as well.
  const traced = sent.filter(({ headers }) => "traceparent" in headers);
  expect(traced).toHaveLength(999);
  const spans = await traceOf(
    runId,
    ({ attributes }) => attributes["workflow.run.status"] === "completed",
  );
  expect(spans.filter(({ name }) => name === "HTTP GET").length).toBeLessThanOrEqual(999);
  expect(spans.filter(({ name }) => name.startsWith("step ")).length).toBeLessThanOrEqual(1_000);
  expect(executionsIn(spans).map(({ is }) => is)).toContain("completed");
});
