import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newId, newUuid, sql } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import type { EventBus, PublishedEvent } from "@workflow/events";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { BulkAction } from "@workflow/proto/runs/v1/runs";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { EVENT_CONSUMERS } from "../src/service.ts";
import { createTestBacklog } from "./support/backlog.ts";
import type { TestBacklog } from "./support/backlog.ts";
import {
  callWorkflow,
  expression,
  httpStep,
  listRequest,
  mapping,
  outputOf,
  resultsOf,
  startRunsHarness,
  startRequest,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const MAX = 60;
const FULL = { reason: "RATE_LIMITED", details: { limit: "backlog" } };
const modest = testIdentity();

let now: Date;
let bus: EventBus;
let harness: RunsHarness;
let backlog: TestBacklog;
let gate: HttpDouble;
let open: () => void;
let opened: Promise<void>;

beforeAll(async () => {
  now = new Date("2026-03-01T10:20:30Z");
  bus = createInProcessEventBus({ consumers: { ...EVENT_CONSUMERS } });
  harness = await startRunsHarness({
    bus,
    now: () => now,
    companyBacklogMax: MAX,
    childPatienceMs: 3_000,
    // Waiting runs are parked at once, so that the tests see them in the queue.
    shortWaitMs: 0,
  });
  backlog = await createTestBacklog(harness, MAX);
  gate = await startHttpDouble(async () => {
    await opened;
    return { status: 200, body: {} };
  });
});
afterAll(async () => {
  await harness.close();
  await bus.close();
  await gate.close();
});
beforeEach(() => {
  opened = new Promise((resolve) => (open = resolve));
});

const count = sql.type(z.object({ count: z.number() }));

async function countRuns(workflowId: string): Promise<number> {
  return harness.database.oneFirst(count`
    select count(*)::integer as count from runs.runs where workflow_id = ${workflowId}
  `);
}

/** A run that comes to its workflow step when the gate opens. */
async function startParent(childId: string): Promise<string> {
  const id = await harness.deploy([
    httpStep("gate", gate.url),
    callWorkflow("call", childId, { wait: true }),
  ]);
  return harness.start(id);
}

describe("while a company has as many pending runs as it may have (D57)", () => {
  it("a step that starts a run waits, and goes on when there is room", async () => {
    const childId = await harness.deploy([mapping("a", 5)]);
    const parentId = await startParent(childId);
    await backlog.fill();
    open();
    await waitFor(
      () =>
        harness.database.oneFirst(count`
          select count(*)::integer as count from runs.tasks
          where run_id = ${parentId} and worker_id is null
            and due_at > now() and due_at < 'infinity'
        `),
      { what: "the parent to rest until its next try" },
    );
    expect(await countRuns(childId)).toBe(0);
    await backlog.empty();
    const parent = await harness.waitForEnd(parentId);
    expect(parent.status).toBe(RunStatus.COMPLETED);
    expect(outputOf(parent)).toBe(5);
    expect(resultsOf(parent)[1]).toMatchObject({ path: "call", attempt: 1 });
  });

  it("a step that has waited for long fails with RATE_LIMITED", async () => {
    const childId = await harness.deploy([mapping("a", 5)]);
    const parentId = await startParent(childId);
    await backlog.fill();
    open();
    const parent = await harness.waitForEnd(parentId);
    expect(parent).toMatchObject({ status: RunStatus.FAILED, error: { code: "RATE_LIMITED" } });
    expect(JSON.parse(parent.error?.detailsJson ?? "")).toMatchObject({ limit: "backlog" });
    expect(await countRuns(childId)).toBe(0);
    await backlog.empty();
  });

  it("a firing of a schedule is skipped, says so, and is followed by the next one", async () => {
    const workflowId = await harness.deploy([mapping("a", 1)], {
      trigger: { type: "schedule", cron: "* * * * *" },
    });
    const { identity } = harness;
    const get = () => harness.schedules.getSchedule({ workflowId }, { identity });
    await backlog.fill();
    now = new Date("2026-03-01T10:21:00Z");
    const skipped = await waitFor(async () => {
      const schedule = await get();
      return schedule.nextRunAt !== undefined && schedule.nextRunAt > now ? schedule : null;
    });
    expect(skipped).toMatchObject({
      enabled: true,
      runCount: 0,
      consecutiveFailures: 0,
      lastError:
        "The firing of 2026-03-01T10:21:00.000Z was skipped: the company had too many runs that had not begun.",
    });
    await expect(
      harness.schedules.triggerSchedule({ workflowId }, { identity }),
    ).rejects.toMatchObject(FULL);
    await backlog.empty();
    await waitFor(async () => {
      now = new Date(now.getTime() + 60_000);
      const { runCount, lastError } = await get();
      // A run that ends well clears the earlier error.
      return runCount > 0 && lastError === undefined;
    });
  });

  it("events of rows wait for room, and those of other companies do not", async () => {
    const tableId = newUuid();
    const trigger = { type: "table", tableId };
    const workflowId = await harness.deploy([mapping("a", 1)], { trigger });
    const otherId = await harness.deploy([mapping("a", 1)], { trigger, identity: modest });
    await backlog.fill();
    const { companyId } = harness.identity;
    await bus.publish([
      ...Array.from({ length: 3 }, () => rowEvent(tableId, companyId)),
      rowEvent(tableId, modest.companyId),
    ]);
    await waitFor(async () => {
      const { runs } = await harness.runs.listRuns(listRequest({ workflowId: otherId }), {
        identity: modest,
      });
      return runs[0]?.status === RunStatus.COMPLETED;
    });
    expect(await countRuns(workflowId)).toBe(0);
    await backlog.empty();
    await waitFor(async () => (await countRuns(workflowId)) === 3, { timeoutMs: 60_000 });
  });

  it("neither a retry nor a restart nor a bulk of them starts a run", async () => {
    const workflowId = await harness.deploy([expression("fail", "$error('no')")]);
    const { id: runId } = await harness.runToEnd(workflowId);
    await backlog.fill();
    const { identity } = harness;
    const restart = {
      runId,
      fromStepId: "fail",
      overrideInputJson: undefined,
      requestId: undefined,
    };
    await expect(harness.runs.retryRun({ runId }, { identity })).rejects.toMatchObject(FULL);
    await expect(harness.runs.restartRun(restart, { identity })).rejects.toMatchObject(FULL);
    const { results } = await harness.runs.bulkRuns(
      { action: BulkAction.RETRY, runIds: [runId], filter: undefined },
      { identity },
    );
    expect(results[0]).toMatchObject({
      newRunId: undefined,
      failure: { detailsJson: JSON.stringify({ limit: "backlog" }) },
    });
    const { results: started } = await harness.runs.startRuns(
      { requests: [startRequest(workflowId)] },
      { identity },
    );
    expect(started[0]?.failure).toBeDefined();
    await backlog.empty();
  });
});

function rowEvent(tableId: string, companyId: string): PublishedEvent {
  const id = newId("evt_");
  const type = "table.row_created";
  const data = { tableId, tableName: "Orders", rowId: newUuid(), position: 1, data: {} };
  const timestamp = new Date().toISOString();
  const body = JSON.stringify({ id, type, timestamp, companyId, data });
  return { id, stream: "tables", type, body };
}
