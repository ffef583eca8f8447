import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import type { EventBus, EventEnvelope } from "@workflow/events";
import { logEvents, startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import {
  delay,
  expression,
  httpStep,
  mapping,
  startRequest,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";
import { RunStatus } from "@workflow/proto/runs/v1/run";

let bus: EventBus;
let harness: RunsHarness;
let receiver: HttpDouble;
let received: EventEnvelope[] = [];
/** How often the handler fails before it takes the next event. */
let failures = 0;

beforeAll(async () => {
  bus = createInProcessEventBus({ consumers: { runs: ["test"] } });
  harness = await startRunsHarness({ bus });
  await logEvents(harness.database);
  receiver = await startHttpDouble(({ path }) => (path === "/never" ? undefined : { status: 200 }));
  await bus.subscribe({
    stream: "runs",
    consumer: "test",
    maxInFlight: 1,
    handler: (event) => {
      received.push(event);
      if (failures === 0) return Promise.resolve();
      failures -= 1;
      return Promise.reject(new Error("the subscriber failed"));
    },
  });
});
beforeEach(() => {
  received = [];
});
afterAll(async () => {
  await harness.close();
  await bus.close();
  await receiver.close();
});

const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);

const ofRun = (runId: string) => received.filter(({ data }) => data["runId"] === runId);

const outboxRow = z.object({
  id: z.string(),
  type: z.string(),
  payload: z.looseObject({ id: z.string(), type: z.string() }),
  published: z.boolean(),
});

const outboxOf = (runId: string) =>
  harness.database.any(sql.type(outboxRow)`
    select id, type, payload,
      not exists (select from runs.outbox where outbox.seq = event_log.seq) as published
    from runs.event_log
    where payload->'data'->>'runId' = ${runId}
    order by seq
  `);

/** Waits until all events of an ended run are published, and returns them. */
async function publishedOf(runId: string): Promise<EventEnvelope[]> {
  await harness.waitForEnd(runId);
  await waitFor(async () => (await outboxOf(runId)).every(({ published }) => published));
  return ofRun(runId);
}

describe("the events of a run", () => {
  it.each<[string, () => [readonly unknown[], object?], string[]]>([
    ["completes", () => [[mapping("a", 1)]], ["workflow.started", "workflow.completed"]],
    [
      "completes after a call",
      () => [[httpStep("a", `${receiver.url}/ok`), mapping("b", 1)]],
      ["workflow.started", "workflow.completed"],
    ],
    ["fails", () => [[expression("a", '$error("x")')]], ["workflow.started", "workflow.failed"]],
    [
      "takes too long",
      () => [[httpStep("a", `${receiver.url}/never`)], { timeoutMs: 100 }],
      ["workflow.started", "workflow.timeout"],
    ],
    [
      "waits and reaches checkpoints",
      () => [[mapping("a", 1, { checkpoint: true }), delay("b", 50), mapping("c", 2)]],
      ["workflow.started", "workflow.checkpoint", "workflow.completed"],
    ],
  ])("that %s are published once each, in order", async (_kind, make, types) => {
    const [steps, settings] = make();
    const runId = await harness.start(
      await harness.deploy(steps, settings === undefined ? {} : { settings }),
    );
    const events = await publishedOf(runId);
    expect(typesOf(events)).toEqual(types);
    const rows = await outboxOf(runId);
    expect(rows.map(({ payload }) => payload)).toEqual(events);
    expect(rows.map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });

  it("that is cancelled end with workflow.cancelled", async () => {
    const workflowId = await harness.deploy([delay("a", 120_000)]);
    const runId = await harness.start(workflowId);
    await harness.waitForRun(workflowId, RunStatus.SUSPENDED);
    await harness.runs.cancelRun(
      { runId },
      { identity: harness.identity, requestId: "cancel-request" },
    );
    const events = await publishedOf(runId);
    // A delay of over a minute is a checkpoint by itself (D31).
    expect(typesOf(events)).toEqual([
      "workflow.started",
      "workflow.checkpoint",
      "workflow.cancelled",
    ]);
    expect(events[1]?.data).toMatchObject({ status: "suspended", stepId: "a" });
    expect(events[2]?.requestId).toBe("cancel-request");
  });

  it("say what happened to which run, and carry the request's id", async () => {
    const workflowId = await harness.deploy([expression("bad", '$error("no")')], {
      name: "Invoice",
    });
    const response = await harness.runs.startRun(startRequest(workflowId), {
      identity: harness.identity,
      requestId: "start-request",
    });
    const runId = response.run?.id ?? "";
    const [started, failed] = await publishedOf(runId);
    const run = await harness.get(runId);
    const facts = {
      workflowId,
      workflowName: "Invoice",
      workflowVersion: 1,
      runId,
      triggerType: "api",
      createdAt: run.createdAt?.toISOString(),
      startedAt: run.startedAt?.toISOString(),
    };
    expect(started).toMatchObject({
      companyId: harness.identity.companyId,
      requestId: "start-request",
      data: { ...facts, status: "running", completedAt: null, durationMs: null },
    });
    expect(failed).toMatchObject({
      companyId: harness.identity.companyId,
      requestId: "start-request",
      data: {
        ...facts,
        status: "failed",
        completedAt: run.completedAt?.toISOString(),
        durationMs: run.durationMs,
        error: { code: "EXPRESSION_FAILED", message: run.error?.message, stepId: "bad" },
      },
    });
  });

  it("hold neither input nor output nor what a receiver answered", async () => {
    const workflowId = await harness.deploy([
      httpStep("call", `${receiver.url}/ok`, {
        headers: { authorization: "Bearer {{input.token}}" },
        successStatuses: [204],
      }),
    ]);
    const runId = await harness.start(workflowId, { token: "hush-hush" });
    const events = await publishedOf(runId);
    expect(typesOf(events)).toEqual(["workflow.started", "workflow.failed"]);
    expect(JSON.stringify(events)).not.toContain("hush-hush");
    for (const { data } of events) {
      expect(Object.keys(data)).not.toEqual(expect.arrayContaining(["input"]));
      expect(Object.keys(data)).not.toEqual(expect.arrayContaining(["output"]));
    }
  });

  it("come again to a subscriber that failed, and only then count as published", async () => {
    const workflowId = await harness.deploy([mapping("a", 1)]);
    failures = 2;
    const runId = await harness.start(workflowId);
    const events = await publishedOf(runId);
    expect(failures).toBe(0);
    expect(events).toHaveLength(4);
    expect(new Set(typesOf(events))).toEqual(new Set(["workflow.started", "workflow.completed"]));
    expect(new Set(events.map(({ id }) => id)).size).toBe(2);
  });
});
