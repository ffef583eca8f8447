import type { Database, Transaction } from "@workflow/db";
import type { Logger } from "pino";
import type { Deployment, DeploymentCache } from "../engine/deployment-cache.ts";
import {
  claimDue,
  countRuns,
  listBusySchedules,
  listComing,
  moveOn,
} from "../store/fire-schedules.ts";
import type { ClaimedRow } from "../store/fire-schedules.ts";
import { insertRuns } from "../store/start-runs.ts";
import type { NewRun } from "../store/start-runs.ts";
import type { TaskRuntime } from "../task-runtime/port.ts";
import { recordOutcomes } from "./record-outcomes.ts";
import { planFiring } from "./schedule-times.ts";
import { findInputViolations, inputOf, scheduledRun } from "./scheduled-run.ts";

/** What firing needs. */
export interface FiringDependencies {
  database: Database;
  deployments: DeploymentCache;
  runtime: TaskRuntime;
  logger: Logger;
}

/** What one look for due schedules came to. */
export interface Look {
  /** How many schedules it has moved on. */
  fired: number;
  /** More may be due than one look takes. */
  full: boolean;
  /** The earliest firing that is still ahead, or due and left; null when none is near. */
  nextAt: Date | null;
}

/** Schedules that one transaction fires; planning one takes about a millisecond. */
const BATCH_MAX = 100;
const UNREADABLE = "The schedule can't be fired by this version of the service.";

/**
 * Fires the schedules that are due: one transaction claims them, starts their runs and plans their
 * next firings, so that a firing happens once however many processes look for it.
 *
 * @param horizonMs how far ahead `nextAt` looks
 */
export async function fireDueSchedules(
  dependencies: FiringDependencies,
  now: Date,
  horizonMs: number,
): Promise<Look> {
  const { database, deployments, runtime } = dependencies;
  const horizon = new Date(now.getTime() + horizonMs);
  const coming = await listComing(database, horizon, BATCH_MAX);
  const due = coming.filter((row) => row.next_run_at <= now);
  const nextAt = coming[due.length]?.next_run_at ?? null;
  if (due.length === 0) return { fired: 0, full: false, nextAt };
  // Before the transaction, which must not wait for another connection.
  const loaded = await deployments.getMany(due.map((row) => row.deployment_id));
  const { fired, started } = await database.transaction(async (transaction) => {
    const ids = due.map(({ id }) => id);
    const claimed = await claimDue(transaction, ids, now);
    return claimed.length === 0
      ? { fired: 0, started: 0 }
      : fire(transaction, claimed, loaded, dependencies, now);
  });
  if (started > 0) runtime.dispatched(started);
  const full = due.length === BATCH_MAX && fired > 0;
  return { fired, full, nextAt: fired < due.length ? now : nextAt };
}

/** What becomes of one schedule that is due. */
type Firing =
  | { kind: "start"; id: string; nextRunAt: Date | null; run: NewRun }
  | { kind: "skip"; id: string; nextRunAt: Date | null }
  | { kind: "fail"; id: string; nextRunAt: Date | null; error: string };

async function fire(
  transaction: Transaction,
  claimed: readonly ClaimedRow[],
  deployments: ReadonlyMap<string, Deployment>,
  { runtime, logger }: FiringDependencies,
  now: Date,
): Promise<{ fired: number; started: number }> {
  const skipping = claimed.filter(({ overlap }) => overlap === "skip").map(({ id }) => id);
  const busy =
    skipping.length > 0 ? await listBusySchedules(transaction, skipping) : new Set<string>();
  const firings = claimed.flatMap((schedule): Firing[] => {
    const deployment = deployments.get(schedule.deployment_id);
    // Deployed since the look: its turn comes with the next one.
    if (deployment === undefined) return [];
    try {
      return [plan(schedule, deployment, busy, runtime, now)];
    } catch (error) {
      // One that can't be planned must not hold up all others.
      logger.error({ err: error, scheduleId: schedule.id }, "a schedule can't be fired");
      return [{ kind: "fail", id: schedule.id, nextRunAt: null, error: UNREADABLE }];
    }
  });
  const starting = firings.filter((firing) => firing.kind === "start");
  const stored = await store(transaction, starting, runtime);
  // A run that was not stored was overtaken by another deployment; its schedule stays due.
  const fired = firings.filter((firing) => firing.kind !== "start" || stored.has(firing.run.id));
  const started = starting.filter(({ run }) => stored.has(run.id));
  const failed = firings.filter((firing) => firing.kind === "fail");
  if (fired.length > 0) await moveOn(transaction, fired);
  if (started.length > 0) {
    const runs = started.map(({ id, run }) => ({ scheduleId: id, runId: run.id }));
    await countRuns(transaction, runs, now);
  }
  if (failed.length > 0) {
    const outcomes = failed.map(({ id, error }) => ({ scheduleId: id, error }));
    await recordOutcomes(transaction, outcomes);
  }
  return { fired: fired.length, started: started.length };
}

function plan(
  schedule: ClaimedRow,
  deployment: Deployment,
  busy: ReadonlySet<string>,
  runtime: TaskRuntime,
  now: Date,
): Firing {
  const { id } = schedule;
  const { scheduledAt, nextRunAt } = planFiring(schedule, schedule.next_run_at, now);
  if (scheduledAt === null || busy.has(id)) return { kind: "skip", id, nextRunAt };
  const [violation] = findInputViolations(deployment, inputOf(schedule));
  if (violation !== undefined) {
    const place = ["input", ...violation.path].join(".");
    const error = `The schedule's input does not fit the inputSchema: ${place} ${violation.message}.`;
    return { kind: "fail", id, nextRunAt, error };
  }
  const run = scheduledRun(schedule, deployment, { scheduledAt, requestId: null }, runtime);
  return { kind: "start", id, nextRunAt, run };
}

async function store(
  transaction: Transaction,
  starting: readonly { run: NewRun }[],
  runtime: TaskRuntime,
): Promise<Set<string>> {
  if (starting.length === 0) return new Set();
  const stored = await insertRuns(
    transaction,
    starting.map(({ run }) => run),
  );
  if (stored.size > 0) await runtime.dispatch(transaction, [...stored]);
  return stored;
}
