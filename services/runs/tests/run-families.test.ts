import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, newUuid, sql } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import type { EventBus, PublishedEvent } from "@workflow/events";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { EVENT_CONSUMERS } from "../src/service.ts";
import {
  callWorkflow,
  listRequest,
  mapping,
  repeat,
  startRequest,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

/** Instead of 10,000. */
const MAX = 40;
const modest = testIdentity();

let bus: EventBus;
let harness: RunsHarness;

beforeAll(async () => {
  bus = createInProcessEventBus({ consumers: { ...EVENT_CONSUMERS } });
  harness = await startRunsHarness({ bus, descendantsMax: MAX });
  // Two processes count for one family.
  await harness.startAnother("worker", { bus: createInProcessEventBus({ consumers: {} }) });
});
afterAll(async () => {
  await harness.close();
  await bus.close();
});

const count = sql.type(z.object({ count: z.number() }));
const codes = sql.type(z.object({ code: z.string().nullable() }));

const countRuns = (workflowId: string): Promise<number> =>
  harness.database.oneFirst(count`
    select count(*)::integer as count from runs.runs where workflow_id = ${workflowId}
  `);

const countLive = (workflowId: string): Promise<number> =>
  harness.database.oneFirst(count`
    select count(*)::integer as count from runs.runs
    where workflow_id = ${workflowId} and completed_at is null
  `);

/** A workflow that starts itself six times, and each time on its own behalf. */
async function deployBomb(wait: boolean): Promise<string> {
  const workflowId = newUuid();
  const call = callWorkflow("again", workflowId, { wait }, { onError: "continue" });
  return harness.deploy([repeat("six", { count: 6 }, [call])], { workflowId });
}

describe("the runs that descend from one run (D60)", () => {
  it.each([false, true])(
    "are so many and no more when a workflow starts itself (wait: %s), and others go on",
    async (wait) => {
      const workflowId = await deployBomb(wait);
      const rootId = await harness.start(workflowId);
      const modestId = await harness.deploy([mapping("a", 1)], { identity: modest });
      const request = { ...startRequest(modestId), waitMs: 30_000 };
      const { run } = await harness.runs.startRun(request, { identity: modest });
      expect(run?.status).toBe(RunStatus.COMPLETED);
      await waitFor(async () => (await countLive(workflowId)) === 0, {
        timeoutMs: 60_000,
        what: "all runs to end",
      });
      const failed = await harness.database.manyFirst(codes`
        select distinct error ->> 'code' as code from runs.step_results
        where run_id in (select id from runs.runs where workflow_id = ${workflowId})
          and type = 'workflow' and error is not null
      `);
      // Depth (D17) ends a chain of runs that wait before its width does.
      expect(await countRuns(workflowId)).toBe(1 + MAX);
      expect(failed).toContain("RUN_TOO_MANY_CHILDREN");
      const counted = await harness.database.oneFirst(count`
        select descendants as count from runs.run_families where root_run_id = ${rootId}
      `);
      expect(counted).toBe(MAX);
    },
  );

  it("include those that changed rows start; one too many fails, and may be retried", async () => {
    const tableId = newUuid();
    const rootId = (await harness.runToEnd(await harness.deploy([mapping("a", 1)]))).id;
    const workflowId = await harness.deploy([mapping("a", 1)], {
      trigger: { type: "table", tableId },
    });
    const events = Array.from({ length: MAX + 5 }, () => rowEvent(tableId, rootId));
    await bus.publish(events);
    await waitFor(
      async () => (await countRuns(workflowId)) === MAX + 5 && (await countLive(workflowId)) === 0,
    );
    const { runs } = await harness.runs.listRuns(
      listRequest({ workflowId, statuses: [RunStatus.FAILED] }),
      harness,
    );
    expect(runs).toHaveLength(5);
    for (const { error } of runs) expect(error?.code).toBe("RUN_TOO_MANY_CHILDREN");
    const retried = await harness.runs.retryRun({ runId: runs[0]?.id ?? "" }, harness);
    expect(await harness.waitForEnd(retried.run?.id ?? "")).toMatchObject({
      status: RunStatus.COMPLETED,
    });
  });

  it("are counted for the first of all, not for each of their parents", async () => {
    const leaf = await harness.deploy([mapping("a", 1)]);
    const middle = await harness.deploy([callWorkflow("leaf", leaf)]);
    const top = await harness.deploy([callWorkflow("middle", middle)]);
    const root = await harness.runToEnd(top);
    const counted = await harness.database.any(
      sql.type(z.object({ root: z.string(), descendants: z.number() }))`
        select root_run_id as root, descendants from runs.run_families
        where root_run_id in (
          select id from runs.runs where workflow_id = any(${sql.array([leaf, middle, top], "uuid")})
        )
      `,
    );
    expect(counted).toEqual([{ root: root.id, descendants: 2 }]);
  });

  it("cost a run without any nothing", async () => {
    const { id } = await harness.runToEnd(await harness.deploy([mapping("a", 1)]));
    const counted = await harness.database.oneFirst(count`
      select count(*)::integer as count from runs.run_families where root_run_id = ${id}
    `);
    expect(counted).toBe(0);
  });
});

/** An event of a row that a run has changed. */
function rowEvent(tableId: string, runId: string): PublishedEvent {
  const id = newId("evt_");
  const type = "table.row_created";
  const { companyId } = harness.identity;
  const data = { tableId, tableName: "Orders", rowId: newUuid(), position: 1, data: {}, runId };
  const timestamp = new Date().toISOString();
  const body = JSON.stringify({ id, type, timestamp, companyId, data });
  return { id, stream: "tables", type, body };
}
