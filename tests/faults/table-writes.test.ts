import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { startSeparateSystem } from "../support/separate-system.ts";
import type { SeparateSystem } from "../support/separate-system.ts";
import { LONG, ROUNDS } from "./support/length.ts";

const RUNS = 40 * ROUNDS;
const KILLS = 4 * ROUNDS;

const scope = createScope();
let system: SeparateSystem;
let database: Database;

beforeAll(async () => {
  system = await startSeparateSystem({ tables: true });
  scope.defer(() => system.stop());
  database = await openDatabase({ connectionUri: system.databaseUri, applicationName: "test" });
  scope.defer(() => database.end());
});
afterAll(() => scope.close());

describe("kill -9 of the worker and of the tables service while runs write rows", () => {
  it(
    "writes every row once and starts one run for each of its events",
    async () => {
      const tableId = await makeTable();
      const writer = await activeWorkflow({ type: "api" }, writingSteps(tableId));
      const reader = await activeWorkflow({ type: "table", tableId }, [
        { id: "seen", type: "transform", name: "seen", config: { mapping: "{{input.event}}" } },
      ]);
      const killing = killInTurn();
      const runIds = await startRuns(writer);
      await killing;
      await allEnded(writer, RUNS);
      expect(await statusesOf(writer)).toEqual({ completed: RUNS });
      // Of the two rows that a run adds, one is changed and the other deleted.
      expect(await rowsByRun()).toEqual(
        runIds.toSorted().map((run) => ({ run, rows: 1, done: 1 })),
      );
      await allEnded(reader, RUNS * 4);
      expect(await statusesOf(reader)).toEqual({ completed: RUNS * 4 });
      expect(await eventsOfRuns(reader)).toEqual({
        row_created: RUNS * 2,
        row_updated: RUNS,
        row_deleted: RUNS,
      });
    },
    LONG,
  );
});

async function makeTable(): Promise<string> {
  const made = await system.call("POST", "/tables", { name: "Rows", rowEvents: true });
  expect(made.status).toBe(201);
  return String(made.body.data["id"]);
}

function writingSteps(tableId: string) {
  const act = (id: string, action: string, config: object) => ({
    id,
    type: "action",
    name: id,
    action: `table.${action}`,
    config: { tableId, ...config },
    retry: { maxAttempts: 5, backoff: "fixed", delayMs: 500 },
  });
  const pause = (id: string) => ({ id, type: "delay", name: id, config: { durationMs: 150 } });
  return [
    act("first", "insert", { data: { run: "{{run.id}}" } }),
    pause("p1"),
    act("second", "insert", { data: { run: "{{run.id}}" } }),
    act("change", "update", {
      rowId: "{{steps.first.output.id}}",
      data: { done: true },
      merge: true,
    }),
    pause("p2"),
    act("remove", "delete", { rowId: "{{steps.second.output.id}}" }),
  ];
}

async function activeWorkflow(trigger: object, steps: readonly object[]): Promise<string> {
  const created = await system.call("POST", "/workflows", { name: "Rows", trigger, steps });
  expect(created.status).toBe(201);
  const workflowId = String(created.body.data["id"]);
  expect((await system.call("POST", `/workflows/${workflowId}/activate`)).status).toBe(200);
  return workflowId;
}

async function startRuns(workflowId: string): Promise<string[]> {
  const runIds: string[] = [];
  for (let n = 0; n < RUNS; n += 1) {
    const started = await system.call("POST", `/workflows/${workflowId}/run`, {});
    expect(started.status).toBe(202);
    runIds.push(String(started.body.data["run_id"]));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return runIds;
}

async function killInTurn(): Promise<void> {
  for (let kill = 0; kill < KILLS; kill += 1) {
    await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 700));
    const name = kill % 2 === 0 ? "runs-worker" : "tables";
    await system.kill(name, "SIGKILL");
    await system.start(name);
  }
}

async function allEnded(workflowId: string, count: number): Promise<void> {
  const countRow = z.object({ ended: z.number() });
  await waitFor(
    async () => {
      const ended = await database.oneFirst(sql.type(countRow)`
        select count(*)::integer as ended from runs.runs
        where workflow_id = ${workflowId} and completed_at is not null
      `);
      if (ended < count) throw new Error(`${ended} of ${count} have ended`);
      return ended;
    },
    { timeoutMs: 90_000, intervalMs: 250, what: "all runs to end" },
  );
}

const counted = z.object({ name: z.string(), count: z.number() });

async function statusesOf(workflowId: string): Promise<Record<string, number>> {
  const rows = await database.any(sql.type(counted)`
    select status as name, count(*)::integer as count from runs.runs
    where workflow_id = ${workflowId}
    group by status
  `);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

async function eventsOfRuns(workflowId: string): Promise<Record<string, number>> {
  const rows = await database.any(sql.type(counted)`
    select input ->> 'event' as name, count(distinct trigger_data ->> 'eventId')::integer as count
    from runs.runs
    where workflow_id = ${workflowId}
    group by 1
  `);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

async function rowsByRun() {
  const runRow = z.object({ run: z.string(), rows: z.number(), done: z.number() });
  const rows = await database.any(sql.type(runRow)`
    select data ->> 'run' as run, count(*)::integer as rows,
      count(*) filter (where data ->> 'done' = 'true')::integer as done
    from tables.rows
    group by 1
  `);
  return rows.toSorted((a, b) => (a.run < b.run ? -1 : 1));
}
