import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { logEvents, startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { startSeparateSystem } from "../support/separate-system.ts";
import type { SeparateSystem } from "../support/separate-system.ts";

const RUNS = 200;
const KILLS = 5;

const scope = createScope();
let system: SeparateSystem;
let receiver: HttpDouble;
let database: Database;

beforeAll(async () => {
  receiver = await startHttpDouble(async (request) => {
    // Long enough that a kill finds calls under way.
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { status: 200, body: { key: request.idempotencyKey } };
  });
  scope.defer(() => receiver.close());
  system = await startSeparateSystem();
  scope.defer(() => system.stop());
  database = await openDatabase({ connectionUri: system.databaseUri, applicationName: "test" });
  await logEvents(database);
  scope.defer(() => database.end());
});
afterAll(() => scope.close());

describe("kill -9 of the worker, five times under load", () => {
  it("loses no accepted run and records each step's effect once", async () => {
    const workflowId = await activeWorkflow();
    const killer = killAtRandom();
    const runIds = await startRuns(workflowId);
    await killer;
    const statuses = await waitFor(
      async () => {
        const rows = await listRuns(runIds);
        return rows.every(({ status }) => status === "completed" || status === "failed")
          ? rows
          : null;
      },
      { timeoutMs: 90_000, intervalMs: 250, what: "every accepted run to end" },
    );
    expect(statuses).toHaveLength(RUNS);
    expect(statuses.filter(({ status }) => status !== "completed")).toEqual([]);
    const counts = receiver.keyCounts();
    for (const runId of runIds) {
      for (const step of ["first", "second"]) {
        const requested = counts.get(`${runId}:${step}:1`) ?? 0;
        expect(requested).toBeGreaterThanOrEqual(1);
        expect(requested).toBeLessThanOrEqual(2);
      }
    }
    expect(await countRepeatedSteps(runIds)).toBe(0);
    expect(await countEvents()).toEqual({ "workflow.completed": RUNS, "workflow.started": RUNS });
  }, 180_000);
});

async function activeWorkflow(): Promise<string> {
  const call = (id: string) => ({
    id,
    type: "action",
    name: id,
    action: "http.request",
    config: { method: "POST", url: `${receiver.url}/${id}`, body: { n: "{{input.n}}" } },
  });
  const created = await system.call("POST", "/workflows", {
    name: "Crash test",
    trigger: { type: "api" },
    steps: [
      call("first"),
      { id: "pause", type: "delay", name: "pause", config: { durationMs: 400 } },
      call("second"),
      { id: "sum", type: "transform", name: "sum", config: { mapping: { n: "{{input.n}}" } } },
    ],
  });
  expect(created.status).toBe(201);
  const workflowId = String(created.body.data["id"]);
  const activated = await system.call("POST", `/workflows/${workflowId}/activate`);
  expect(activated.status).toBe(200);
  return workflowId;
}

async function startRuns(workflowId: string): Promise<string[]> {
  const runIds: string[] = [];
  for (let n = 0; n < RUNS; n += 10) {
    const batch = Array.from({ length: 10 }, async (_, index) => {
      const started = await system.call("POST", `/workflows/${workflowId}/run`, {
        input: { n: n + index },
      });
      expect(started.status).toBe(202);
      return String(started.body.data["run_id"]);
    });
    runIds.push(...(await Promise.all(batch)));
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  return runIds;
}

async function killAtRandom(): Promise<void> {
  for (let kill = 0; kill < KILLS; kill++) {
    await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 900));
    await system.kill("runs-worker", "SIGKILL");
    await system.start("runs-worker");
  }
}

const runRow = z.object({ id: z.string(), status: z.string() });

async function listRuns(runIds: readonly string[]) {
  return database.any(sql.type(runRow)`
    select id, status from runs.runs where id = any(${sql.array([...runIds], "text")})
  `);
}

async function countRepeatedSteps(runIds: readonly string[]): Promise<number> {
  const row = await database.one(sql.type(z.object({ repeated: z.number() }))`
    select (count(*) - count(distinct (run_id, path)))::integer as repeated
    from runs.step_results
    where run_id = any(${sql.array([...runIds], "text")})
  `);
  return row.repeated;
}

async function countEvents(): Promise<Record<string, number>> {
  const rows = await database.any(sql.type(z.object({ type: z.string(), events: z.number() }))`
    select type, count(*)::integer as events from runs.event_log group by type
  `);
  return Object.fromEntries(rows.map(({ type, events }) => [type, events]));
}
