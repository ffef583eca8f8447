import { sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { DELIVERED } from "./load.ts";
import type { Load } from "./load.ts";
import type { ApartSystem } from "./system.ts";

/** What has come of what callers were told. */
export interface Judgement {
  /** What they were told and does not hold; empty when all is well. */
  faults: string[];
  /** In words, for the report. */
  summary: string;
}

const PATIENCE_MS = 120_000;

const restRow = z.object({
  live: z.number(),
  tasks: z.number(),
  open: z.number(),
  unpublished: z.number(),
  unsettled: z.number(),
});
const counted = z.object({ key: z.string(), count: z.number() });

/** Waits for what was accepted to be done, and compares. */
export async function judge(system: ApartSystem, load: Load): Promise<Judgement> {
  const faults: string[] = [];
  const rest = sql.type(restRow)`
    select
      (select count(*)::integer from runs.runs where completed_at is null) as live,
      (select count(*)::integer from runs.tasks) as tasks,
      (select count(*)::integer from runs.open_steps) as open,
      (select count(*)::integer from runs.outbox where published_at is null) as unpublished,
      (select count(*)::integer from webhooks.inbound_events
        where status in ('received', 'processing')) as unsettled
  `;
  await attempt(faults, "something is left undone", async () => {
    const left = await system.database.one(rest);
    if (Object.values(left).some((count) => count > 0)) throw new Error(JSON.stringify(left));
  });
  const runs = await judgeRuns(system, load, faults);
  await judgeInbound(system, load, faults);
  await judgeSchedules(system, load, faults);
  await judgeRows(system, load, faults);
  const repeated = await judgeEffects(system, runs, faults);
  await judgeDeliveries(system, runs, faults);
  const { ledger } = load;
  const summary =
    `${ledger.started.size} runs by callers, ${ledger.received.size} by events, ` +
    `${ledger.waves} times all schedules, ${ledger.rows.confirmed.length} rows; ` +
    `${repeated} effects were sent again under their key`;
  return { faults, summary };
}

/** Every accepted start is one run that has completed. Returns the runs of the caller. */
async function judgeRuns(system: ApartSystem, { ledger, scene }: Load, faults: string[]) {
  const rows = await system.database.any(sql.type(
    z.object({ id: z.string(), status: z.string(), workflowId: z.string() }),
  )`
    select id, status, workflow_id as "workflowId" from runs.runs
    where workflow_id = any(${sql.array([scene.caller, scene.plain], "uuid")})
  `);
  const statuses = new Map(rows.map(({ id, status }) => [id, status]));
  for (const runId of ledger.started.values()) {
    const status = statuses.get(runId) ?? "missing";
    if (status !== "completed") faults.push(`run ${runId}, which was accepted, is ${status}`);
  }
  const distinct = new Set(ledger.started.values()).size;
  if (distinct !== ledger.started.size) faults.push("two keys have got the same run");
  if (rows.length !== distinct) faults.push(`${rows.length} runs of ${distinct} keys`);
  return rows.filter(({ workflowId }) => workflowId === scene.caller).map(({ id }) => id);
}

async function judgeInbound(
  system: ApartSystem,
  { ledger, scene }: Load,
  faults: string[],
): Promise<void> {
  const rows = await system.database.any(sql.type(counted)`
    select coalesce(input ->> 'key', input -> 'body' ->> 'key', '') as key, count(*)::integer as count
    from runs.runs where workflow_id = ${scene.taker} group by 1
  `);
  const counts = new Map(rows.map(({ key, count }) => [key, count]));
  for (const key of ledger.received) {
    const count = counts.get(key) ?? 0;
    if (count !== 1) faults.push(`event ${key}, which was received, has started ${count} runs`);
  }
  for (const { key, count } of rows) {
    if (count > 1) faults.push(`event ${key} has started ${count} runs`);
  }
}

async function judgeSchedules(
  system: ApartSystem,
  { ledger, scene }: Load,
  faults: string[],
): Promise<void> {
  const read = () =>
    system.database.any(sql.type(counted)`
      select workflow_id::text as key, count(*)::integer as count from runs.runs
      where workflow_id = any(${sql.array([...scene.scheduled], "uuid")}) group by 1
    `);
  await attempt(faults, "schedules did not fire each time", async () => {
    const rows = await read();
    const isExact = ({ count }: { count: number }) => count === ledger.waves;
    if (rows.length !== scene.scheduled.length || !rows.every(isExact)) {
      throw new Error(`${ledger.waves} times, and fired: ${JSON.stringify(rows)}`);
    }
  });
}

async function judgeRows(system: ApartSystem, { ledger }: Load, faults: string[]): Promise<void> {
  const rows = await system.database.any(sql.type(counted)`
    select data ->> 'name' as key, count(*)::integer as count
    from tables.rows group by 1
  `);
  const counts = new Map(rows.map(({ key, count }) => [key, count]));
  for (const name of ledger.rows.confirmed) {
    const count = counts.get(name) ?? 0;
    if (count !== 1) faults.push(`a row that was confirmed is there ${count} times`);
  }
  for (const { key, count } of rows)
    if (count > 1) faults.push(`row ${key} is there ${count} times`);
}

/** Each call of a run has one key for each attempt, and its row is there. Returns how many were repeated. */
async function judgeEffects(
  system: ApartSystem,
  runs: readonly string[],
  faults: string[],
): Promise<number> {
  const counts = system.receiver.keyCounts();
  for (const runId of runs) {
    if (!counts.has(`${runId}:call:1`)) faults.push(`run ${runId} has not called the receiver`);
  }
  const rows = await system.database.any(sql.type(counted)`
    select data ->> 'name' as key, count(*)::integer as count from tables.rows
    where data ->> 'name' like 'run\\_%' group by 1
  `);
  if (rows.length !== runs.length) {
    faults.push(`${rows.length} rows were written by ${runs.length} runs`);
  }
  // A second attempt has a key of its own, and there is none unless the first was told to have failed.
  const effects = [...counts].filter(([key]) => key.startsWith("run_"));
  return effects.filter(([key, count]) => count > 1 || !key.endsWith(":1")).length;
}

const delivered = z.object({ id: z.string(), runId: z.string() });

async function judgeDeliveries(
  system: ApartSystem,
  runs: readonly string[],
  faults: string[],
): Promise<void> {
  await attempt(faults, "deliveries are missing", () => {
    const ids = new Map<string, Set<string>>();
    for (const { path, body } of system.receiver.requests) {
      if (path !== DELIVERED) continue;
      const { id, runId } = delivered.parse(JSON.parse(body));
      ids.set(runId, (ids.get(runId) ?? new Set()).add(id));
    }
    const wrong = runs.filter((runId) => ids.get(runId)?.size !== 1);
    if (wrong.length > 0) throw new Error(`${wrong.length} of ${runs.length} runs`);
  });
}

/** Waits for something; what does not come is a fault. */
async function attempt(
  faults: string[],
  what: string,
  check: () => void | Promise<void>,
): Promise<void> {
  try {
    await waitFor(check, { timeoutMs: PATIENCE_MS, intervalMs: 500, what });
  } catch (error) {
    faults.push(String(error));
  }
}
