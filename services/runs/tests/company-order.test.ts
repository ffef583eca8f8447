import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { newId, newUuid, sql } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { Schedule } from "@workflow/proto/runs/v1/schedules";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  httpStep,
  listRequest,
  mapping,
  startRequest,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const modest = testIdentity();
const nothing = sql.type(z.object({}));
const count = sql.type(z.object({ count: z.number() }));

let now: Date;
let harness: RunsHarness;

beforeEach(async () => {
  now = new Date("2026-03-01T10:20:30Z");
  // No worker runs until a test starts one.
  harness = await startRunsHarness({ role: "api", now: () => now });
});
afterEach(() => harness.close());

/** How many of a workflow's company's runs were created before the first one of another company. */
async function runsBefore(otherWorkflowId: string): Promise<number> {
  return harness.database.oneFirst(count`
    select count(*)::integer as count from runs.runs
    where company_id = ${harness.identity.companyId}
      and id < (select min(id) from runs.runs where workflow_id = ${otherWorkflowId})
  `);
}

const startWorker = (workerConcurrency = 10) =>
  harness.startAnother("worker", {
    workerConcurrency,
    bus: createInProcessEventBus({ consumers: {} }),
  });

describe("one company's thousands that are due, and another one's single one", () => {
  it("of runs: the single one begins before all but a few of the others (D57)", async () => {
    const DUE = 3_000;
    const greedyId = await harness.deploy([mapping("a", 1)]);
    const modestId = await harness.deploy([mapping("a", 1)], { identity: modest });
    const first = await harness.start(greedyId);
    await harness.database.query(nothing`
      with stored as (
        insert into runs.runs (
          id, company_id, workflow_id, deployment_id, workflow_version, trigger_type, input,
          created_at
        )
        select 'run_' || lpad(n::text, 26, '0'), company_id, workflow_id, deployment_id,
          workflow_version, trigger_type, input, now() - interval '1 minute'
        from runs.runs, generate_series(1, ${DUE}) as n
        where id = ${first}
        returning id, company_id
      )
      insert into runs.tasks (run_id, company_id, due_at)
      select id, company_id, now() - interval '1 minute' from stored
    `);
    const { run } = await harness.runs.startRun(startRequest(modestId), { identity: modest });
    await startWorker();
    await waitFor(
      async () => {
        const request = listRequest({ workflowId: modestId });
        const { runs } = await harness.runs.listRuns(request, { identity: modest });
        return runs[0]?.status === RunStatus.COMPLETED;
      },
      { timeoutMs: 60_000 },
    );
    const earlier = await harness.database.oneFirst(count`
      select count(*)::integer as count from runs.runs
      where workflow_id = ${greedyId}
        and started_at < (select started_at from runs.runs where id = ${run?.id ?? ""})
    `);
    // The first claim sees only the oldest 256; later ones see every company.
    expect(earlier).toBeLessThan(100);
  });

  it("of runs: the single one is executed though the others have all slots, for however long", async () => {
    const opened = Promise.withResolvers<void>();
    const gate = await startHttpDouble(async () => {
      await opened.promise;
      return { status: 200, body: {} };
    });
    const SLOTS = 4;
    await startWorker(SLOTS);
    const greedyId = await harness.deploy([httpStep("wait", gate.url)]);
    const modestId = await harness.deploy([mapping("a", 1)], { identity: modest });
    for (let started = 0; started < 3 * SLOTS; started += 1) await harness.start(greedyId);
    await waitFor(() => gate.requests.length === SLOTS);
    for (let round = 0; round < 3; round += 1) {
      const request = { ...startRequest(modestId), waitMs: 30_000 };
      const { run } = await harness.runs.startRun(request, { identity: modest });
      expect(run?.status).toBe(RunStatus.COMPLETED);
    }
    // The greedy company got no more than its slots.
    expect(gate.requests).toHaveLength(SLOTS);
    opened.resolve();
    await waitFor(() => gate.requests.length === 3 * SLOTS);
    await gate.close();
  });

  it("of events: its run is stored after one batch of the others' at most", async () => {
    const tableId = newUuid();
    const trigger = { type: "table", tableId };
    await harness.deploy([mapping("a", 1)], { trigger });
    const modestId = await harness.deploy([mapping("a", 1)], { trigger, identity: modest });
    const events = [
      ...Array.from({ length: 300 }, () => harness.identity.companyId),
      modest.companyId,
    ].map((companyId) => ({ companyId, id: newId("evt_") }));
    await harness.database.query(nothing`
      insert into runs.event_inbox (company_id, event_id, event)
      select company_id, event_id, event::json
      from ${sql.unnest(
        events.map(({ companyId, id }) => [companyId, id, rowEvent(tableId, companyId, id)]),
        ["uuid", "text", "text"],
      )} as arrived (company_id, event_id, event)
    `);
    await startWorker();
    await waitFor(
      async () => {
        const left = await harness.database.oneFirst(count`
          select count(*)::integer as count from runs.event_inbox
        `);
        return left === 0;
      },
      { timeoutMs: 60_000 },
    );
    expect(await runsBefore(modestId)).toBeLessThanOrEqual(32);
    const stored = await harness.database.oneFirst(count`
      select count(*)::integer as count from runs.runs
    `);
    expect(stored).toBe(301);
  });

  it("of schedules: it fires with the first batch, and each fires once", async () => {
    const trigger = { type: "schedule", cron: "* * * * *" };
    const greedyId = await harness.deploy([mapping("a", 1)], { trigger });
    const modestId = await harness.deploy([mapping("a", 1)], { trigger, identity: modest });
    await copySchedules(greedyId, 500);
    // The other company's task is due last of all.
    await harness.database.query(nothing`
      update runs.schedules set next_run_at = '2026-03-01T10:20:59Z'
      where workflow_id <> ${modestId}
    `);
    now = new Date("2026-03-01T10:21:01Z");
    await Promise.all([startWorker(), startWorker()]);
    await waitFor(
      async () => {
        const due = await harness.database.oneFirst(count`
          select count(*)::integer as count from runs.schedules
          where next_run_at <= ${now.toISOString()}
        `);
        return due === 0;
      },
      { timeoutMs: 60_000 },
    );
    // One batch of each of the two schedulers.
    expect(await runsBefore(modestId)).toBeLessThanOrEqual(400);
    const runs = await harness.database.oneFirst(count`
      select count(*)::integer as count from runs.runs
    `);
    expect(runs).toBe(502);
  });
});

/** Workflows with schedules like this one's. */
async function copySchedules(workflowId: string, copies: number): Promise<void> {
  await harness.database.query(nothing`
    with copy as materialized (
      select gen_random_uuid() as workflow_id, gen_random_uuid() as deployment_id, n
      from generate_series(1, ${copies}) as n
    ), deployed as (
      insert into runs.deployments (
        id, company_id, workflow_id, revision, version, name, trigger, steps
      )
      select copy.deployment_id, company_id, copy.workflow_id, revision, version, name, trigger,
        steps
      from runs.deployments, copy
      where deployments.workflow_id = ${workflowId}
    ), heads as (
      insert into runs.deployment_heads (workflow_id, company_id, revision, status, deployment_id)
      select copy.workflow_id, company_id, revision, status, copy.deployment_id
      from runs.deployment_heads, copy
      where deployment_heads.workflow_id = ${workflowId}
    )
    insert into runs.schedules (
      id, company_id, workflow_id, cron, timezone, overlap, catch_up, enabled, active,
      trigger_times, trigger_enabled, anchor, next_run_at, created_at, updated_at
    )
    select 'sched_' || lpad(n::text, 26, '0'), company_id, copy.workflow_id, cron, timezone,
      overlap, catch_up, enabled, active, trigger_times, trigger_enabled, anchor, next_run_at,
      created_at, updated_at
    from runs.schedules, copy
    where schedules.workflow_id = ${workflowId}
  `);
}

function rowEvent(tableId: string, companyId: string, id: string): string {
  const data = { tableId, tableName: "Orders", rowId: newUuid(), position: 1, data: {} };
  const timestamp = new Date().toISOString();
  return JSON.stringify({ id, type: "table.row_created", timestamp, companyId, data });
}

describe("a firing that is late", () => {
  /** A schedule that was due two minutes ago, and schedulers that were there until then. */
  async function dueSince(lastLook: string, more: object = {}): Promise<string> {
    const trigger = { type: "schedule", cron: "0 * * * *", ...more };
    const workflowId = await harness.deploy([mapping("a", 1)], { trigger });
    await harness.database.query(nothing`
      update runs.schedules set next_run_at = '2026-03-01T11:00:00Z'
      where workflow_id = ${workflowId}
    `);
    await harness.database.query(nothing`
      insert into runs.scheduler_presence (looked_at) values (${lastLook})
    `);
    now = new Date("2026-03-01T11:02:00Z");
    await startWorker();
    return workflowId;
  }

  const movedOn = (workflowId: string): Promise<Schedule> =>
    waitFor(async () => {
      const { identity } = harness;
      const schedule = await harness.schedules.getSchedule({ workflowId }, { identity });
      return schedule.nextRunAt !== undefined && schedule.nextRunAt > now ? schedule : null;
    });

  it("happens when schedulers were there all the while: it is our own backlog", async () => {
    const schedule = await movedOn(await dueSince("2026-03-01T11:01:59Z"));
    expect(schedule).toMatchObject({ runCount: 1 });
    expect(schedule.lastError).toBeUndefined();
  });

  it("was missed when none was there, and is skipped with a note of it", async () => {
    const schedule = await movedOn(await dueSince("2026-03-01T10:00:00Z"));
    expect(schedule).toMatchObject({
      runCount: 0,
      consecutiveFailures: 0,
      lastError: "The firing of 2026-03-01T11:00:00.000Z was skipped: no scheduler was there.",
    });
  });

  it("was missed and is made up for where the trigger says so", async () => {
    const missed = await dueSince("2026-03-01T10:00:00Z", { catchUp: "last" });
    expect(await movedOn(missed)).toMatchObject({ runCount: 1 });
  });
});
