import { setTimeout as delay } from "node:timers/promises";
import { sqlStateOf } from "@workflow/db";
import type { Database } from "@workflow/db";
import { loop } from "@workflow/service";
import type { Logger } from "pino";
import { emptyHorizon, horizonOf } from "../domain/retention.ts";
import type { RetentionPolicies } from "../domain/retention.ts";
import {
  deleteDeployments,
  listNamedDeployments,
  listOldDeployments,
} from "../store/remove-deployments.ts";
import { detachPartition, dropDetachedPartitions, listPartitions } from "../store/partitions.ts";
import type { Partition } from "../store/partitions.ts";
import {
  deleteApprovalsIn,
  deleteApprovalsOf,
  deleteRemovedResults,
  deleteRuns,
  hasLiveRuns,
  listCompaniesIn,
  listEndedBefore,
  tryLockRemoval,
} from "../store/remove-runs.ts";
import { listRetentionPolicies } from "../store/retention-policies.ts";

const INTERVAL_MS = 10 * 60 * 1_000;
/** Rows that one transaction deletes: some ten milliseconds. */
const ROWS_MAX = 1_000;
const RUNS_MAX = 200;
/** Requests wait as long as an attempt does: at first for little, later for as much as may be. */
const DETACH_WAITS_MS = [25, 50, 100, ...Array.from({ length: 27 }, () => 150)];
const DETACH_PAUSE_MS = 500;
const DEPLOYMENTS_MAX = 10_000;
/** Before every deployment. */
const NO_DEPLOYMENT = "00000000-0000-0000-0000-000000000000";
const LOCK_NOT_AVAILABLE = "55P03";

/** What removes runs. */
export interface RetentionContext {
  database: Database;
  logger: Logger;
  now: () => Date;
  /** How long the runs of companies without a policy are kept; 0: for ever. */
  retentionDays: number;
  /** The pause between two looks; ten minutes by default. */
  retentionIntervalMs?: number | undefined;
}

/**
 * Removes ended runs whose time is over (D58), until the signal: whole partitions where everything in
 * them may go, single runs where companies or live runs keep the rest.
 *
 * @returns resolves when all of it has stopped after the signal
 */
export async function runRetention(context: RetentionContext, signal: AbortSignal): Promise<void> {
  const { logger, retentionIntervalMs = INTERVAL_MS } = context;
  let deploymentsAfter = NO_DEPLOYMENT;
  const removing = loop({
    name: "remove-old-runs",
    signal,
    intervalMs: retentionIntervalMs,
    logger,
    run: async () => {
      deploymentsAfter = await removeOldRuns(context, deploymentsAfter, signal);
    },
  });
  await removing.done;
}

/** Returns after which deployment the next look goes on. */
async function removeOldRuns(
  context: RetentionContext,
  deploymentsAfter: string,
  signal: AbortSignal,
): Promise<string> {
  const { database, retentionDays } = context;
  // What a process that died has detached or left behind.
  await dropDetachedPartitions(database);
  await removeLeftResults(database, signal);
  const byCompany = await listRetentionPolicies(database);
  const policies: RetentionPolicies = { days: retentionDays, byCompany };
  if (emptyHorizon(policies, context.now()) === null) return deploymentsAfter;
  let removed = 0;
  for (const partition of await listPartitions(database)) {
    if (signal.aborted) return deploymentsAfter;
    removed += await removeFrom(context, policies, partition, signal);
  }
  return removed > 0 ? removeOldDeployments(context, deploymentsAfter) : deploymentsAfter;
}

/** Removes what may go of a partition, or all of it; returns how many runs, a partition for one. */
async function removeFrom(
  context: RetentionContext,
  policies: RetentionPolicies,
  partition: Partition,
  signal: AbortSignal,
): Promise<number> {
  const { database, logger } = context;
  const now = context.now();
  const companies = await listCompaniesIn(database, partition);
  const horizons =
    companies.length === 0
      ? [emptyHorizon(policies, now)]
      : companies.map((companyId) => horizonOf(policies, companyId, now));
  const allOver = horizons.every((horizon) => horizon !== null && partition.end <= horizon);
  if (allOver && !(await hasLiveRuns(database, companies, partition))) {
    if (await dropPartition(context, partition, signal)) {
      logger.info({ endId: partition.toId, end: partition.end }, "a partition of runs is gone");
      return 1;
    }
    // Something held the tables all the while, such as a backup; the next look tries again.
    return 0;
  }
  let removed = 0;
  for (const companyId of companies) {
    const horizon = horizonOf(policies, companyId, now);
    if (horizon !== null) {
      removed += await removeOfCompany(context, companyId, partition, horizon, signal);
    }
  }
  if (removed > 0) logger.info({ removed, end: partition.end }, "old runs are gone");
  return removed;
}

/** Whether it worked before the tries ran out. */
async function dropPartition(
  { database, logger }: RetentionContext,
  partition: Partition,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    if ((await deleteApprovalsIn(database, partition, ROWS_MAX)) < ROWS_MAX) break;
  }
  for (const waitMs of DETACH_WAITS_MS) {
    if (signal.aborted) break;
    try {
      const detached = await detachPartition(database, partition, waitMs);
      if (detached) await dropDetachedPartitions(database);
      return detached;
    } catch (error) {
      if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
      logger.debug({ endId: partition.toId, waitMs }, "a partition is in use; it is tried again");
      await delay(DETACH_PAUSE_MS * (0.5 + Math.random()));
    }
  }
  return false;
}

/** Removes the ended runs of one company that are old enough, in small transactions. */
async function removeOfCompany(
  { database }: RetentionContext,
  companyId: string,
  partition: Partition,
  horizon: Date,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  while (!signal.aborted) {
    const runIds = await listEndedBefore(database, companyId, partition, horizon, RUNS_MAX);
    if (runIds.length === 0) break;
    // First what lists show by itself; then the runs, and with them everything that names them.
    while ((await deleteApprovalsOf(database, runIds, ROWS_MAX)) === ROWS_MAX);
    const gone = await database.transaction(async (transaction) =>
      (await tryLockRemoval(transaction)) ? deleteRuns(transaction, runIds) : null,
    );
    if (gone === null) break;
    removed += gone;
    await removeLeftResults(database, signal);
  }
  return removed;
}

/** Deletes the step results of runs that are gone. */
async function removeLeftResults(database: Database, signal: AbortSignal): Promise<void> {
  let deleted = 1;
  while (deleted > 0 && !signal.aborted) {
    deleted = await database.transaction(async (transaction) =>
      (await tryLockRemoval(transaction)) ? deleteRemovedResults(transaction, ROWS_MAX) : 0,
    );
  }
}

/**
 * Deletes deployments that no run names any more and that are not the newest of their workflows. It looks at
 * the next of them after one; returns after which the next look goes on.
 */
async function removeOldDeployments(
  { database, logger }: RetentionContext,
  afterId: string,
): Promise<string> {
  const found = await listOldDeployments(database, afterId, DEPLOYMENTS_MAX);
  const nextAfterId = found.length < DEPLOYMENTS_MAX ? NO_DEPLOYMENT : (found.at(-1) ?? afterId);
  let unnamed = found;
  for (const partition of await listPartitions(database)) {
    if (unnamed.length === 0) return nextAfterId;
    const named = new Set(await listNamedDeployments(database, unnamed, partition));
    unnamed = unnamed.filter((id) => !named.has(id));
  }
  const removed = await deleteDeployments(database, unnamed);
  if (removed > 0) logger.info({ removed }, "old deployments are gone");
  return nextAfterId;
}
