import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, newUuid, sql } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import type { EventBus, PublishedEvent } from "@workflow/events";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import type { Run } from "@workflow/proto/runs/v1/run";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { EVENT_CONSUMERS } from "../src/service.ts";
import {
  callWorkflow,
  listRequest,
  mapping,
  outputOf,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let bus: EventBus;
/** The bus of another process, which has seen nothing: every event over it is a repeat. */
let otherBus: EventBus;
let harness: RunsHarness;

beforeAll(async () => {
  bus = createInProcessEventBus({ consumers: { ...EVENT_CONSUMERS } });
  otherBus = createInProcessEventBus({ consumers: { ...EVENT_CONSUMERS } });
  harness = await startRunsHarness({ bus });
  await harness.startAnother("worker", { bus: otherBus });
});
afterAll(async () => {
  await harness.close();
  await bus.close();
  await otherBus.close();
});

const SHOW = [mapping("show", { trigger: "{{trigger}}", input: "{{input}}" })];
const onTable = (tableId: string, more: object = {}) => ({ type: "table", tableId, ...more });

interface Change {
  companyId?: string;
  requestId?: string;
  [member: string]: unknown;
}

/** An event of a row of a table, as the tables service tells it. */
function rowEvent(tableId: string, type: string, change: Change = {}): PublishedEvent {
  const { companyId = harness.identity.companyId, requestId, ...data } = change;
  const envelope = {
    id: newId("evt_"),
    type: `table.${type}`,
    timestamp: new Date().toISOString(),
    companyId,
    requestId,
    data: {
      tableId,
      tableName: "Orders",
      rowId: newUuid(),
      position: 7,
      data: { total: 5 },
      ...data,
    },
  };
  return {
    id: envelope.id,
    stream: "tables",
    type: envelope.type,
    body: JSON.stringify(envelope),
  };
}

/** Publishes events and waits until all their runs are stored. */
async function publish(events: readonly PublishedEvent[], on = bus): Promise<void> {
  await on.publish(events);
  await inboxIsEmpty();
}

async function inboxIsEmpty(): Promise<void> {
  const count = sql.type(z.object({ count: z.number() }));
  await waitFor(
    async () => {
      const left = await harness.database.oneFirst(count`
        select count(*)::integer as count from runs.event_inbox
      `);
      return left === 0;
    },
    { timeoutMs: 60_000, what: "the events' runs" },
  );
}

const runsOf = async (workflowId: string): Promise<Run[]> =>
  (await harness.runs.listRuns(listRequest({ workflowId }), harness)).runs;

async function firstRunOf(workflowId: string): Promise<Run> {
  const [run] = await runsOf(workflowId);
  if (run === undefined) throw new Error("no run was started");
  return harness.waitForEnd(run.id);
}

describe("a change of a row", () => {
  it("starts a run with what has changed, and says so in the trigger", async () => {
    const tableId = newUuid();
    const workflowId = await harness.deploy(SHOW, { trigger: onTable(tableId) });
    const change = { requestId: "req-1", previousData: { total: 4 } };
    const event = rowEvent(tableId, "row_updated", change);
    await publish([event]);
    const run = await firstRunOf(workflowId);
    const { data } = JSON.parse(event.body);
    expect(run).toMatchObject({ status: RunStatus.COMPLETED, triggerType: TriggerType.TABLE });
    expect(outputOf(run)).toEqual({
      trigger: {
        type: "table",
        eventId: event.id,
        event: "row_updated",
        tableId,
        tableName: "Orders",
        rowId: data.rowId,
      },
      input: {
        event: "row_updated",
        tableId,
        rowId: data.rowId,
        position: 7,
        data: { total: 5 },
        previousData: { total: 4 },
      },
    });
    const rows = await harness.database.any(sql.type(z.object({ request_id: z.string() }))`
      select request_id from runs.runs where id = ${run.id}
    `);
    expect(rows).toEqual([{ request_id: "req-1" }]);
  });

  it("starts one run of each workflow that waits for it, and of no other", async () => {
    const tableId = newUuid();
    const trigger = onTable(tableId);
    const all = await harness.deploy(SHOW, { trigger });
    const upper = await harness.deploy(SHOW, { trigger: onTable(tableId.toUpperCase()) });
    const created = await harness.deploy(SHOW, {
      trigger: onTable(tableId, { events: ["row_created", "row_created"] }),
    });
    const deleted = await harness.deploy(SHOW, {
      trigger: onTable(tableId, { events: ["row_deleted"] }),
    });
    const otherTable = await harness.deploy(SHOW, { trigger: onTable(newUuid()) });
    const foreign = await harness.deploy(SHOW, { trigger, identity: testIdentity() });
    await publish([rowEvent(tableId, "row_created")]);
    for (const workflowId of [all, upper, created])
      expect(await runsOf(workflowId)).toHaveLength(1);
    for (const workflowId of [deleted, otherTable, foreign]) {
      expect(await countRuns(workflowId)).toBe(0);
    }
    await publish([rowEvent(tableId, "row_deleted")]);
    expect(await runsOf(all)).toHaveLength(2);
    expect(await runsOf(created)).toHaveLength(1);
    expect(await runsOf(deleted)).toHaveLength(1);
  });

  const countRuns = (workflowId: string): Promise<number> =>
    harness.database.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*)::integer as count from runs.runs where workflow_id = ${workflowId}
    `);

  it("starts its runs once, however often and wherever it is told", async () => {
    const tableId = newUuid();
    const ids = [
      await harness.deploy(SHOW, { trigger: onTable(tableId) }),
      await harness.deploy(SHOW, { trigger: onTable(tableId) }),
    ];
    const events = Array.from({ length: 20 }, () => rowEvent(tableId, "row_created"));
    await Promise.all([publish(events), publish(events, otherBus)]);
    const late = await harness.deploy(SHOW, { trigger: onTable(tableId) });
    const third = createInProcessEventBus({ consumers: { ...EVENT_CONSUMERS } });
    const again = await harness.startAnother("worker", { bus: third });
    await publish(events, third);
    for (const id of ids) expect(await countRuns(id)).toBe(20);
    expect(await countRuns(late)).toBe(0);
    await again.stop();
    await third.close();
  });

  it("starts nothing while the workflow is paused, and the newest version when it is not", async () => {
    const tableId = newUuid();
    const workflowId = await harness.deploy(SHOW, { trigger: onTable(tableId) });
    const pause = { workflowId, revision: 2, status: DeploymentStatus.PAUSED, content: undefined };
    await harness.deployments.putDeployment(pause, harness);
    await publish([rowEvent(tableId, "row_created")]);
    expect(await countRuns(workflowId)).toBe(0);
    const newer = { workflowId, revision: 3, version: 2 };
    await harness.deploy(SHOW, { ...newer, trigger: onTable(tableId) });
    await publish([rowEvent(tableId, "row_created")]);
    expect(await runsOf(workflowId)).toMatchObject([{ workflowVersion: 2 }]);
    await harness.deploy(SHOW, { workflowId, revision: 4, trigger: { type: "api" } });
    await publish([rowEvent(tableId, "row_created")]);
    expect(await countRuns(workflowId)).toBe(1);
  });

  it("starts every run while the workflow is being changed all the time", async () => {
    const tableId = newUuid();
    const workflowId = await harness.deploy(SHOW, { trigger: onTable(tableId) });
    const events = Array.from({ length: 60 }, () => rowEvent(tableId, "row_created"));
    const changing = (async () => {
      for (let revision = 2; revision < 30; revision += 1) {
        await harness.deploy(SHOW, { workflowId, revision, trigger: onTable(tableId) });
      }
    })();
    let left = events;
    await waitFor(
      async () => {
        await otherBus.publish(left).then(
          () => (left = []),
          // A relay does the same: failed events come again.
          () => {},
        );
        return left.length === 0 ? true : null;
      },
      { what: "all events to be handled" },
    );
    await changing;
    await inboxIsEmpty();
    expect(await countRuns(workflowId)).toBe(60);
  });

  it("is passed over when no workflow can be told of it, and told of as failed when it is unreadable", async () => {
    const tableId = newUuid();
    const workflowId = await harness.deploy(SHOW, { trigger: onTable(tableId) });
    const unreadable = [
      rowEvent("no-uuid", "row_created"),
      rowEvent(tableId, "row_created", { rowId: 5 }),
    ];
    const publishing = publish([...unreadable, rowEvent(tableId, "row_moved")]);
    // With a broker it then becomes a dead letter.
    await expect(publishing).rejects.toMatchObject({
      name: "PublishError",
      failures: unreadable.map(({ id }) => expect.objectContaining({ id })),
    });
    await inboxIsEmpty();
    expect(await countRuns(workflowId)).toBe(0);
  });

  it("keeps what its row has, whatever its columns are called", async () => {
    const tableId = newUuid();
    const workflowId = await harness.deploy([mapping("m", "{{input.data}}")], {
      trigger: onTable(tableId),
    });
    const data: unknown = JSON.parse(`{"__proto__": {"a": 1}, "constructor": "😀", "": [null]}`);
    await publish([rowEvent(tableId, "row_created", { data })]);
    const run = await firstRunOf(workflowId);
    expect(run.outputJson).toBe(JSON.stringify(data));
  });

  it("that was too large to be told starts a run that can see so", async () => {
    const tableId = newUuid();
    const workflowId = await harness.deploy([mapping("m", "{{input}}")], {
      trigger: onTable(tableId),
    });
    await publish([rowEvent(tableId, "row_created", { data: null, truncated: true })]);
    expect(outputOf(await firstRunOf(workflowId))).toMatchObject({ data: null, truncated: true });
  });
});

describe("a run that cannot go on as its event wants", () => {
  it("fails with INPUT_INVALID, and can be restarted with an input that fits", async () => {
    const tableId = newUuid();
    const workflowId = await harness.deploy(SHOW, {
      trigger: onTable(tableId),
      inputSchema: {
        type: "object",
        properties: { data: { type: "object", required: ["customer"] } },
      },
    });
    await publish([rowEvent(tableId, "row_created")]);
    const run = await firstRunOf(workflowId);
    expect(run).toMatchObject({
      status: RunStatus.FAILED,
      stepResults: [],
      error: { code: "INPUT_INVALID" },
    });
    expect(JSON.parse(run.error?.detailsJson ?? "")).toEqual({
      violations: [expect.objectContaining({ path: ["data", "customer"] })],
    });
    const overrideInputJson = JSON.stringify({ data: { customer: "Ada" } });
    const request = {
      runId: run.id,
      fromStepId: "show",
      overrideInputJson,
      requestId: undefined,
    };
    const restarted = await harness.runs.restartRun(request, harness);
    const mended = await harness.waitForEnd(restarted.run?.id ?? "");
    expect(mended).toMatchObject({ status: RunStatus.COMPLETED, triggerType: TriggerType.TABLE });
  });

  it("fails with TRIGGER_LOOP when more than ten runs in a row have led to it", async () => {
    const tableId = newUuid();
    const workflowId = await harness.deploy(SHOW, { trigger: onTable(tableId) });
    let runId: string | undefined;
    for (let depth = 0; depth <= 11; depth += 1) {
      await publish([rowEvent(tableId, "row_updated", runId === undefined ? {} : { runId })]);
      const [newest] = await runsOf(workflowId);
      const run = await harness.waitForEnd(newest?.id ?? "");
      runId = run.id;
      const failure = { status: RunStatus.FAILED, error: { code: "TRIGGER_LOOP" } };
      expect(run).toMatchObject(depth <= 10 ? { status: RunStatus.COMPLETED } : failure);
    }
    expect(await runsOf(workflowId)).toHaveLength(12);
  });

  it("counts what child runs write with their parent's", async () => {
    const tableId = newUuid();
    const child = await harness.deploy(SHOW);
    const workflowId = await harness.deploy([callWorkflow("call", child)], {
      trigger: onTable(tableId),
    });
    await publish([rowEvent(tableId, "row_created")]);
    const parent = await firstRunOf(workflowId);
    await publish([rowEvent(tableId, "row_created", { runId: parent.id })]);
    await waitFor(async () => ((await runsOf(child)).length === 2 ? true : null), {
      what: "a second child",
    });
    const depths = await harness.database.manyFirst(sql.type(z.object({ depth: z.number() }))`
      select trigger_depth as depth from runs.runs where workflow_id = ${child} order by id
    `);
    expect(depths).toEqual([0, 1]);
  });

  it("is not taken for a part of another company's chain", async () => {
    const tableId = newUuid();
    const stranger = testIdentity();
    const workflowId = await harness.deploy(SHOW, {
      trigger: onTable(tableId),
      identity: stranger,
    });
    const mine = await harness.start(await harness.deploy(SHOW));
    await harness.database.query(sql.type(z.object({}))`
      update runs.runs set trigger_depth = 10 where id = ${mine}
    `);
    const { companyId } = stranger;
    await publish([rowEvent(tableId, "row_created", { companyId, runId: mine })]);
    const [run] = (await harness.runs.listRuns(listRequest({ workflowId }), { identity: stranger }))
      .runs;
    const depth = await harness.database.oneFirst(sql.type(z.object({ depth: z.number() }))`
      select trigger_depth as depth from runs.runs where id = ${run?.id ?? ""}
    `);
    expect(depth).toBe(0);
  });
});
