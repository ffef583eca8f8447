import { databaseErrorToAppError } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import type { Deployment, DeploymentCache } from "../deployments/deployment-cache.ts";
import { isTerminal } from "../domain/run-status.ts";
import { RESULT_BYTES } from "../journal/step-outputs.ts";
import type { RunMemory } from "../memory/run-memory.ts";
import type { WorkerMemory } from "../memory/worker-memory.ts";
import { countResults } from "../store/load-history.ts";
import type { Advance, Finished, Lease } from "../task-runtime/port.ts";
import type { RuntimeWorker } from "../task-runtime/runtime.ts";
import { isGivenUp } from "./execute-run.ts";
import { loadHistories } from "./load-history.ts";
import { hasHistory, loadRuns } from "./load-runs.ts";
import type { LoadedRun } from "./load-runs.ts";
import type { ParkedRuns } from "./parked-runs.ts";

/** A run that can be executed, and what it takes of the worker's memory so far. */
export interface ReadyRun {
  lease: Lease;
  run: LoadedRun;
  deployment: Deployment;
  memory: RunMemory;
}

/** What is needed to load runs. */
export interface BeginRunsOptions {
  database: Database;
  worker: RuntimeWorker;
  deployments: DeploymentCache;
  memory: WorkerMemory;
  parked: ParkedRuns;
  logger: Logger;
}

/** A run with at most so many results is loaded together with others, without waiting for memory. */
const FEW_RESULTS = 500;
/** How long a run waits for memory in a slot that others need. */
const WAIT_MS_MAX = 2_000;
const POLL_MS = 250;
/** Nothing was executed. */
export const RELEASED: Advance = { next: "release" };
/** There was no memory for the run. */
const UNBEGUN: Advance = { next: "unbegun" };

/**
 * Loads claimed runs and hands each on as soon as it is loaded. A run with many results waits for memory
 * before they are read. If others need its slot meanwhile, it goes back to the queue; that counts neither
 * as a failure nor as a take-over.
 */
export async function beginRuns(
  options: BeginRunsOptions,
  leases: readonly Lease[],
  execute: (ready: ReadyRun) => void,
  finished: Finished,
): Promise<void> {
  await new RunLoader(options, execute, finished).beginAll(leases);
}

/** Loads the runs of one claim. */
class RunLoader {
  readonly #options: BeginRunsOptions;
  readonly #execute: (ready: ReadyRun) => void;
  readonly #finished: Finished;

  constructor(options: BeginRunsOptions, execute: (ready: ReadyRun) => void, finished: Finished) {
    this.#options = options;
    this.#execute = execute;
    this.#finished = finished;
  }

  /** Never rejects: a lease whose run cannot be loaded is finished. */
  async beginAll(leases: readonly Lease[]): Promise<void> {
    await this.#each(
      leases,
      (some) => this.#begin(some),
      (lease) => this.#finished(lease, RELEASED),
    );
  }

  async #begin(some: readonly Lease[]): Promise<void> {
    const found = await findReady(this.#options, some, this.#finished);
    const begun = found.filter((ready) => {
      const needsHistory = hasHistory(ready.run) && !isGivenUp(ready.lease);
      if (needsHistory && !takeParked(this.#options.parked, ready)) return true;
      this.#execute(ready);
      return false;
    });
    if (begun.length === 0) return;
    await this.#each(
      begun,
      (some) => this.#loadAll(some),
      (ready) => this.#abandon(ready),
    );
  }

  async #loadAll(some: readonly ReadyRun[]): Promise<void> {
    const rows = await countResults(
      this.#options.database,
      some.map(({ lease }) => lease.runId),
    );
    const counts = new Map(rows.map(({ runId, results }) => [runId, results]));
    const countOf = ({ lease }: ReadyRun): number => counts.get(lease.runId) ?? 0;
    const few = some.filter((ready) => countOf(ready) <= FEW_RESULTS);
    if (few.length > 0) {
      for (const ready of few) ready.memory.grow(countOf(ready) * RESULT_BYTES);
      await this.#load(few);
    }
    for (const ready of some) if (!few.includes(ready)) void this.#loadLarge(ready, countOf(ready));
  }

  async #loadLarge(ready: ReadyRun, count: number): Promise<void> {
    if (await waitForMemory(ready, count * RESULT_BYTES)) {
      await this.#each(
        [ready],
        (some) => this.#load(some),
        (each) => this.#abandon(each),
      );
    } else {
      this.#abandon(ready, UNBEGUN);
    }
  }

  async #load(some: readonly ReadyRun[]): Promise<void> {
    const histories = await loadHistories(
      this.#options.database,
      some.map(({ lease }) => lease.runId),
    );
    for (const ready of some) {
      const history = histories.get(ready.lease.runId) ?? ready.run.history;
      this.#execute({ ...ready, run: { ...ready.run, history } });
    }
  }

  #abandon({ lease, memory }: ReadyRun, advance = RELEASED): void {
    memory.close();
    this.#finished(lease, advance);
  }

  /** A run that cannot be loaded must not hold up the others. */
  async #each<T>(
    some: readonly T[],
    work: (some: readonly T[]) => Promise<void>,
    giveUp: (item: T) => void,
  ): Promise<void> {
    try {
      await work(some);
    } catch (error) {
      const cause = databaseErrorToAppError(error);
      this.#options.logger.error({ err: cause, runs: some.length }, "could not load runs");
      const oneByOne = some.length > 1 && cause.reason !== "UNAVAILABLE";
      for (const item of some) {
        if (oneByOne) await this.#each([item], work, giveUp);
        else giveUp(item);
      }
    }
  }
}

/** The runs of leases, without their history. A lease without a run is finished here. */
async function findReady(
  { database, worker, deployments, memory, logger }: BeginRunsOptions,
  leases: readonly Lease[],
  finished: Finished,
): Promise<ReadyRun[]> {
  const runs = await loadRuns(database, worker, leases);
  const found = await deployments.getMany([...runs.values()].map(({ row }) => row.deploymentId));
  return leases.flatMap((lease) => {
    const run = runs.get(lease.runId);
    const deployment = run && found.get(run.row.deploymentId);
    if (
      run !== undefined &&
      deployment !== undefined &&
      isExecutable(run, deployment, lease, logger)
    ) {
      const runMemory = memory.open(run.row.companyId, lease.signal);
      return { lease, run, deployment, memory: runMemory };
    }
    // Without a run the lease is lost: the run was cancelled, or another worker executes it.
    if (run !== undefined && deployment === undefined) {
      logger.error({ runId: lease.runId }, "a run has no deployment");
    }
    finished(lease, RELEASED);
    return [];
  });
}

/** A run that cannot be executed is tried again after a pause, or has ended. */
function isExecutable(
  { row }: LoadedRun,
  { id, compiled }: Deployment,
  lease: Lease,
  logger: Logger,
): boolean {
  // The run was cancelled after its task was claimed. The task is gone.
  if (isTerminal(row.status)) return false;
  if (compiled !== null || isGivenUp(lease)) return true;
  // A newer release stored the run. One of its workers can execute it.
  logger.error({ runId: row.id, deploymentId: id }, "a run can't be executed by this version");
  return false;
}

/** Whether this worker still holds the run's history. */
function takeParked(parked: ParkedRuns, ready: ReadyRun): boolean {
  const history = parked.take(ready.lease);
  if (history === undefined) return false;
  ready.memory.grow(history.results.count * RESULT_BYTES);
  ready.run.history = history;
  return true;
}

/** @returns false when the lease is lost, or when others need the slot */
async function waitForMemory({ lease, memory }: ReadyRun, bytes: number): Promise<boolean> {
  const giveUp = new AbortController();
  const begunAt = performance.now();
  const look = setInterval(() => {
    if (lease.isSlotWanted() && performance.now() - begunAt > WAIT_MS_MAX) giveUp.abort();
  }, POLL_MS);
  try {
    await memory.reserve(bytes, giveUp.signal);
    return true;
  } catch {
    return false;
  } finally {
    clearInterval(look);
  }
}
