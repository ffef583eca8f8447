import { halfRandom, loop, sleep } from "@workflow/async";
import { sqlStateOf } from "@workflow/db";
import type { Database } from "@workflow/db";
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
/** Rows that one transaction deletes, in some ten milliseconds. */
const ROWS_MAX = 1_000;
const RUNS_MAX = 200;
/**
 * Requests wait as long as an attempt does. The first attempts are short, later ones as long as is
 * acceptable.
 */
const DETACH_WAITS_MS = [25, 50, 100, ...Array.from({ length: 27 }, () => 150)];
const DETACH_PAUSE_MS = 750;
const DEPLOYMENTS_MAX = 10_000;
/** Sorts before every deployment. */
const NO_DEPLOYMENT = "00000000-0000-0000-0000-000000000000";
const LOCK_NOT_AVAILABLE = "55P03";

/** The dependencies of removing runs. */
export interface RetentionContext {
  database: Database;
  logger: Logger;
  now: () => Date;
  /** How long the runs of companies without a policy are kept; 0: for ever. */
  retentionDays: number;
  /** The pause between two passes; ten minutes by default. */
  retentionIntervalMs?: number | undefined;
}

/**
 * Removes ended runs whose retention is over (D58), until the signal. A partition in which everything may
 * go is removed whole. Where companies or live runs keep the rest, single runs are.
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

/** Removes runs and old deployments; returns the deployment after which the next pass goes on. */
async function removeOldRuns(
  context: RetentionContext,
  deploymentsAfter: string,
  signal: AbortSignal,
): Promise<string> {
  const { database, retentionDays } = context;
  // Partitions that a dead process has detached or left behind.
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

/**
 * Removes what may go of a partition, or all of it. Returns the number of removed runs; a whole partition
 * counts as one.
 */
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
      logger.info({ endId: partition.toId, end: partition.end }, "a partition of runs was removed");
      return 1;
    }
    // Another session held the tables all the time, such as a backup. The next pass tries again.
    return 0;
  }
  let removed = 0;
  for (const companyId of companies) {
    const horizon = horizonOf(policies, companyId, now);
    if (horizon !== null) {
      removed += await removeOfCompany(context, { companyId, partition, horizon }, signal);
    }
  }
  if (removed > 0) logger.info({ removed, end: partition.end }, "old runs were removed");
  return removed;
}

/** Whether the partition was dropped before the tries ran out. */
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
      await sleep(halfRandom(DETACH_PAUSE_MS), signal);
    }
  }
  return false;
}

/** Removes the ended runs of one company that are old enough, in small transactions. */
async function removeOfCompany(
  { database }: RetentionContext,
  { companyId, partition, horizon }: { companyId: string; partition: Partition; horizon: Date },
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  while (!signal.aborted) {
    const old = { ...partition, before: horizon };
    const runIds = await listEndedBefore(database, companyId, old, RUNS_MAX);
    if (runIds.length === 0) break;
    // Rows that lists show by themselves go first; then the runs, and with them all rows that name them.
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
 * Deletes old deployments that no run names and that are not the newest of their workflows. It checks the
 * next ones after a deployment; returns the one after which the next pass goes on.
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
  if (removed > 0) logger.info({ removed }, "old deployments were removed");
  return nextAfterId;
}
