import { setImmediate as nextTurn } from "node:timers/promises";
import type { Transaction } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { Deployment, DeploymentCache } from "../deployments/deployment-cache.ts";
import type { Backlog } from "../starting/backlog.ts";
import { startInTransaction } from "../starting/start-in-transaction.ts";
import type { Starting, StoringContext } from "../starting/start-in-transaction.ts";
import {
  claimDue,
  countRuns,
  findNextFiring,
  listBusySchedules,
  listDue,
  moveOn,
} from "../store/fire-schedules.ts";
import type { ClaimedRow, DueRow } from "../store/fire-schedules.ts";
import type { Absence } from "../store/scheduler-presence.ts";
import { planSchedule } from "./plan-schedule.ts";
import type { Firing, FiringMoment } from "./plan-schedule.ts";
import { recordOutcomes } from "./record-outcomes.ts";
import { FiringPlanner } from "./schedule-times.ts";

/** The dependencies of firing. */
export interface FiringDependencies extends StoringContext {
  deployments: DeploymentCache;
  backlog: Backlog;
  tracer: Tracer | undefined;
  logger: Logger;
}

/** The result of one poll for due schedules. */
export interface Poll {
  /** How many schedules were moved on. */
  fired: number;
  /** Whether more may be due than one poll takes. */
  full: boolean;
  /** The earliest firing that is still to come, or is due and was left; null when none is near. */
  nextAt: Date | null;
}

/** Schedules that one transaction fires. */
const BATCH_MAX = 200;
/** Schedules that are planned before the event loop goes on. One takes about a millisecond. */
const PLANNED_AT_ONCE = 10;
const UNREADABLE = "The schedule can't be fired by this version of the service.";

/** The moment at which schedules are fired. */
export interface PollMoment {
  now: Date;
  /** The last time in which no scheduler polled. */
  absence: Absence | null;
  /** How far ahead `nextAt` looks. */
  horizonMs: number;
}

/**
 * Fires the schedules that are due. One transaction claims them, starts their runs and plans their next
 * firings. So each firing happens once, however many processes poll.
 */
export async function fireDueSchedules(
  dependencies: FiringDependencies,
  { now, absence, horizonMs }: PollMoment,
): Promise<Poll> {
  const { database, deployments } = dependencies;
  const due = await listDue(database, now, BATCH_MAX);
  if (due.length === 0) {
    const horizon = new Date(now.getTime() + horizonMs);
    return { fired: 0, full: false, nextAt: await findNextFiring(database, now, horizon) };
  }
  // Deployments are loaded before the transaction, which must not wait for another connection.
  const loaded = await deployments.getMany(due.map((row) => row.deploymentId));
  const refused = await listRefused(dependencies, due);
  const ids = due.map(({ id }) => id);
  const fired = await startInTransaction(dependencies, async (transaction, starting) => {
    const claimed = await claimDue(transaction, ids, now);
    if (claimed.length === 0) return 0;
    const skipping = claimed.filter(({ overlap }) => overlap === "skip").map(({ id }) => id);
    const busy =
      skipping.length > 0 ? await listBusySchedules(transaction, skipping) : new Set<string>();
    const { tracer } = dependencies;
    const moment = { planner: new FiringPlanner(now, absence), busy, refused, tracer };
    const firings = await planAll(claimed, loaded, dependencies, moment);
    return fire(transaction, starting, firings, now);
  });
  // Another process is firing the rest, or they were deployed again meanwhile.
  return { fired, full: fired > 0, nextAt: now };
}

/** Schedules of companies that have too many pending runs. */
async function listRefused(
  { backlog }: FiringDependencies,
  due: readonly DueRow[],
): Promise<Set<string>> {
  const refused = new Set<string>();
  for (const { id, companyId } of due) {
    try {
      await backlog.admit(companyId);
    } catch (error) {
      if (!isAppError(error) || error.reason !== "RATE_LIMITED") throw error;
      refused.add(id);
    }
  }
  return refused;
}

async function planAll(
  claimed: readonly ClaimedRow[],
  deployments: ReadonlyMap<string, Deployment>,
  { runtime, logger }: FiringDependencies,
  moment: FiringMoment,
): Promise<Firing[]> {
  const firings: Firing[] = [];
  for (const [index, schedule] of claimed.entries()) {
    if (index % PLANNED_AT_ONCE === PLANNED_AT_ONCE - 1) await nextTurn();
    const deployment = deployments.get(schedule.deploymentId);
    // The schedule was deployed since the poll. The next poll fires it.
    if (deployment === undefined) continue;
    try {
      firings.push(planSchedule(schedule, deployment, runtime, moment));
    } catch (error) {
      // A schedule that can't be planned must not hold up all others.
      logger.error({ err: error, scheduleId: schedule.id }, "a schedule can't be fired");
      firings.push({ kind: "fail", id: schedule.id, nextRunAt: null, error: UNREADABLE });
    }
  }
  return firings;
}

/** Returns how many schedules were moved on. */
async function fire(
  transaction: Transaction,
  start: Starting,
  firings: readonly Firing[],
  now: Date,
): Promise<number> {
  const starting = firings.filter((firing) => firing.kind === "start");
  const stored = await start.insert(starting.map(({ run }) => run));
  // A run is not stored when another deployment has overtaken it. Its schedule stays due.
  const fired = firings.filter((firing) => firing.kind !== "start" || stored.has(firing.run.id));
  const started = starting.filter(({ run }) => stored.has(run.id));
  const failed = firings.filter((firing) => firing.kind === "fail");
  if (fired.length > 0) {
    const moves = fired.map((firing) => ({
      ...firing,
      skipped: firing.kind === "skip" ? firing.reason : null,
    }));
    await moveOn(transaction, moves);
  }
  if (started.length > 0) {
    const runs = started.map(({ id, run }) => ({ scheduleId: id, runId: run.id }));
    await countRuns(transaction, runs, now);
  }
  if (failed.length > 0) {
    const outcomes = failed.map(({ id, error }) => ({ scheduleId: id, error }));
    await recordOutcomes(transaction, outcomes);
  }
  return fired.length;
}
