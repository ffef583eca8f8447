import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startHttpDouble, startOtlpCollector, waitFor } from "@workflow/testkit";
import type { CollectedSpan, HttpDouble, OtlpCollector } from "@workflow/testkit";
import { z } from "zod";
import { makeReceived } from "../support/received-webhooks.ts";
import { createActive, postRun, runIdOf, transform, waitForRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let collector: OtlpCollector;
let receiver: HttpDouble;
const lines: string[] = [];

beforeAll(async () => {
  collector = await startOtlpCollector();
  receiver = await startHttpDouble(({ path }) => ({
    status: path.startsWith("/broken") ? 500 : 200,
  }));
  system = await startWholeSystem({
    tracing: { endpoint: collector.url, sampler: "always_on", ratio: 1 },
    log: { write: (line) => lines.push(line) },
  });
});
afterAll(async () => {
  await system.stop();
  await collector.close();
  await receiver.close();
});

const SECRET = "do-not-tell";
/** The kinds of spans in OTLP. */
const [INTERNAL, SERVER, CLIENT, CONSUMER] = [1, 2, 3, 5];
const FAILED = 2;

function request(path: string): Record<string, unknown> {
  const config = {
    method: "POST",
    url: `${receiver.url}${path}?token=${SECRET}`,
    body: { SECRET },
  };
  return { id: "call", type: "action", name: "call", action: "http.request", config };
}

/**
 * Waits for the needed spans of the request with this id, and for the parents of all its spans.
 * Processes hand in their spans in no order.
 */
function traceOf(requestId: string, ...needed: ((span: CollectedSpan) => boolean)[]) {
  return waitFor(() => {
    const all = collector.spans();
    const root = all.find(
      ({ kind, service, attributes }) =>
        service === "gateway" && kind === SERVER && attributes["workflow.request.id"] === requestId,
    );
    const spans = all.filter(({ traceId }) => traceId === root?.traceId);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const orphans = spans.filter((span) => span !== root && !ids.has(span.parentSpanId ?? ""));
    const isWhole = orphans.length === 0 && needed.every((isThere) => spans.some(isThere));
    return root !== undefined && isWhole ? { root, spans } : null;
  });
}

/** `service name` of a span and of all spans around it, innermost first. */
function wayOf(span: CollectedSpan, spans: readonly CollectedSpan[]): string[] {
  const around = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [`${span.service} ${span.name}`, ...(around === undefined ? [] : wayOf(around, spans))];
}

function only(spans: readonly CollectedSpan[], service: string, name: string): CollectedSpan {
  const [found, ...others] = spans.filter((span) => span.service === service && span.name === name);
  if (found === undefined || others.length > 0) {
    const known = spans.map((span) => `${span.service} ${span.name}`);
    throw new Error(`There are ${others.length + 1} ${service} ${name} in ${known.join(", ")}.`);
  }
  return found;
}

/** Each span of the first case stands below the one that caused it. */
function expectWays(spans: readonly CollectedSpan[]): void {
  const way = (service: string, name: string) => wayOf(only(spans, service, name), spans);
  const start = "workflow.runs.v1.RunsService/StartRun";
  const started = [`runs ${start}`, `gateway ${start}`, "gateway POST /workflows/{id}/run"];
  const executes = ["runs run executes", ...started];
  expect(way("runs", "run executes")).toEqual(executes);
  expect(way("runs", "HTTP POST")).toEqual(["runs HTTP POST", "runs step action", ...executes]);
  const query = "workflow.tables.v1.RowsService/QueryRows";
  const queried = [`tables ${query}`, `runs ${query}`, "runs step action"];
  expect(way("tables", query).slice(0, 3)).toEqual(queried);
  expect(way("webhooks", "HTTP POST")).toEqual([
    "webhooks HTTP POST",
    "webhooks webhook delivery",
    "webhooks consume workflow.completed",
    ...executes,
  ]);
}

/** One request outside went out with the context of this span. */
function expectSentOnce(traceId: string, { kind, spanId }: CollectedSpan): void {
  expect(kind).toBe(CLIENT);
  const context = `00-${traceId}-${spanId}-01`;
  const sent = receiver.requests.filter(({ headers }) => headers["traceparent"] === context);
  expect(sent).toHaveLength(1);
}

describe("a trace", () => {
  it("leads from the request through every service to the step, its request and the delivery", async () => {
    const endpoint = await makeReceived(system, receiver, { events: ["workflow.completed"] });
    const workflowId = await createActive(system, {
      steps: [
        request("/hook"),
        {
          id: "list",
          type: "action",
          name: "list",
          action: "table.query",
          config: { tableId: "{{run.id}}" },
          onError: "continue",
        },
      ],
    });
    const answer = await postRun(
      system,
      workflowId,
      {},
      { headers: { "x-request-id": "traced-1" } },
    );
    const runId = runIdOf(answer);
    await waitForRun(system, runId);
    const { root, spans } = await traceOf(
      "traced-1",
      ({ service, name }) => service === "webhooks" && name === "HTTP POST",
      ({ service, name }) => service === "runs" && name === "HTTP POST",
      ({ service }) => service === "tables",
    );

    expect(root).toMatchObject({ name: "POST /workflows/{id}/run", kind: SERVER });
    expect(root.parentSpanId).toBeUndefined();
    expect(root.attributes).toMatchObject({
      "http.route": "/workflows/{id}/run",
      "http.response.status_code": 202,
      "workflow.company.id": system.acme.id,
    });
    const execution = only(spans, "runs", "run executes");
    expect(execution).toMatchObject({ kind: INTERNAL, links: [], status: { code: 0 } });
    expect(execution.attributes).toMatchObject({
      "workflow.run.id": runId,
      "workflow.id": workflowId,
      "workflow.run.status": "completed",
      "workflow.request.id": "traced-1",
    });
    expect(only(spans, "webhooks", "consume workflow.completed").kind).toBe(CONSUMER);
    expect(only(spans, "webhooks", "webhook delivery").attributes).toMatchObject({
      "workflow.endpoint.id": endpoint.id,
      "workflow.delivery.attempt": 1,
      "http.response.status_code": 200,
    });
    expectWays(spans);
    expectSentOnce(root.traceId, only(spans, "runs", "HTTP POST"));
    expectSentOnce(root.traceId, only(spans, "webhooks", "HTTP POST"));
  });

  it("has the ids of its request in every line of the log that the request causes", async () => {
    const workflowId = await createActive(system, { steps: [transform("out", 1)] });
    await postRun(system, workflowId, {}, { headers: { "x-request-id": "traced-2" } });
    const { root } = await traceOf("traced-2", ({ name }) => name === "run executes");
    const logged = lines
      .map((line) => z.looseObject({ requestId: z.string().optional() }).parse(JSON.parse(line)))
      .filter(({ requestId }) => requestId === "traced-2");
    expect(logged.length).toBeGreaterThan(1);
    for (const line of logged) expect(line["trace_id"]).toBe(root.traceId);
  });

  it("tells of ids, types and codes, and of nothing else", async () => {
    const workflowId = await createActive(system, { steps: [request("/broken")] });
    const { headers } = await postRun(system, workflowId, { input: { SECRET } });
    const requestId = headers.get("x-request-id") ?? "";
    const { spans } = await traceOf(requestId, ({ name }) => name === "run executes");
    const failed = spans.filter(({ status }) => status.code === FAILED);
    expect(
      failed
        .map(({ name, attributes }) => `${name}: ${String(attributes["error.type"])}`)
        .toSorted(),
    ).toEqual(["HTTP POST: 500", "run executes: HTTP_STATUS", "step action: HTTP_STATUS"]);
    const names = new Set(collector.spans().flatMap(({ attributes }) => Object.keys(attributes)));
    expect([...names].filter((name) => !TOLD.has(name))).toEqual([]);
    expect(collector.requests.map(({ body }) => body).join("")).not.toContain(SECRET);
  });

  it("goes on after a long wait with an execution that links to the first one", async () => {
    const approval = { id: "ask", type: "approval", name: "ask", config: { message: "Sure?" } };
    const workflowId = await createActive(system, { steps: [approval, transform("out", 1)] });
    const answer = await postRun(
      system,
      workflowId,
      {},
      { headers: { "x-request-id": "traced-3" } },
    );
    const runId = runIdOf(answer);
    await waitForRun(system, runId, ["waiting_approval"]);
    const { data } = await system.call("GET", `/runs/${runId}/approvals`);
    const [{ id } = { id: "" }] = z.array(z.object({ id: z.string() })).parse(data);
    await system.call("POST", `/runs/${runId}/approvals/${id}`, { body: { decision: "approved" } });
    await waitForRun(system, runId);
    const isLast = ({ attributes }: CollectedSpan): boolean =>
      attributes["workflow.run.status"] === "completed";
    const { spans } = await traceOf("traced-3", isLast);
    const [first, second] = ["waiting_approval", "completed"].map((status) =>
      spans.find(({ attributes }) => attributes["workflow.run.status"] === status),
    );
    expect(first?.links).toEqual([]);
    expect(second?.links).toEqual([{ traceId: first?.traceId, spanId: first?.spanId }]);
    expect(second?.parentSpanId).toBe(first?.parentSpanId);
  });

  it("belongs to one request each when starts share a call", async () => {
    const workflowId = await createActive(system, { steps: [transform("out", 1)] });
    const ids = Array.from({ length: 10 }, (_, n) => `together-${n}`);
    const starts = ids.map((id) =>
      postRun(system, workflowId, {}, { headers: { "x-request-id": id } }),
    );
    await Promise.all(starts);
    const traces = await Promise.all(
      ids.map((id) => traceOf(id, ({ name }) => name === "run executes")),
    );
    for (const [place, { spans }] of traces.entries()) {
      const executions = spans.filter(({ name }) => name === "run executes");
      expect(executions.map(({ attributes }) => attributes["workflow.request.id"])).toEqual([
        ids[place],
      ]);
    }
    expect(new Set(traces.map(({ root }) => root.traceId)).size).toBe(ids.length);
  });

  it("leaves a request its own context where the step sets one", async () => {
    const own = `00-${"c".repeat(32)}-${"d".repeat(16)}-01`;
    const config = { method: "GET", url: `${receiver.url}/own`, headers: { Traceparent: own } };
    const step = { id: "call", type: "action", name: "call", action: "http.request", config };
    const workflowId = await createActive(system, { steps: [step] });
    await waitForRun(system, runIdOf(await postRun(system, workflowId)));
    const sent = receiver.requests.filter(({ path }) => path === "/own");
    expect(sent.map(({ headers }) => headers["traceparent"])).toEqual([own]);
  });

  it("goes on with the context of a caller, and begins anew with one that is not valid", async () => {
    const traceId = "a".repeat(32);
    const given = [
      `00-${traceId}-${"b".repeat(16)}-00`,
      `00-${"0".repeat(32)}-${"b".repeat(16)}-01`,
    ];
    for (const [place, traceparent] of given.entries()) {
      const headers = { traceparent, "x-request-id": `called-${place}` };
      await system.call("GET", "/workflows", { headers });
    }
    const [known, unknown] = await Promise.all(
      given.map((_, place) => traceOf(`called-${place}`, ({ service }) => service === "workflows")),
    );
    expect(known?.root).toMatchObject({ traceId, parentSpanId: "b".repeat(16) });
    expect(unknown?.root.traceId).not.toMatch(/^0+$/);
    expect(unknown?.root.parentSpanId).toBeUndefined();
  });
});

/** The attributes that spans may have. */
const TOLD = new Set([
  "error.type",
  "http.request.method",
  "http.response.status_code",
  "http.route",
  "messaging.consumer.group.name",
  "messaging.destination.name",
  "messaging.message.id",
  "rpc.grpc.status_code",
  "rpc.system",
  "workflow.company.id",
  "workflow.delivery.attempt",
  "workflow.delivery.id",
  "workflow.endpoint.id",
  "workflow.error.code",
  "workflow.event.age_ms",
  "workflow.event.id",
  "workflow.id",
  "workflow.request.id",
  "workflow.run.epoch",
  "workflow.run.id",
  "workflow.run.status",
  "workflow.run.takeovers",
  "workflow.run.trigger",
  "workflow.run.waited_ms",
  "workflow.schedule.id",
  "workflow.step.action",
  "workflow.step.attempt",
  "workflow.step.path",
  "workflow.step.type",
  "workflow.step.waits",
  "workflow.version",
]);
