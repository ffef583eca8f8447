import type { Shares } from "@workflow/async";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { LRUCache } from "lru-cache";
import { listSummaries } from "../store/read-runs.ts";
import type { RunSummaryRow } from "../store/read-runs.ts";
import { listStepsAt } from "../store/read-steps.ts";
import type { StepBounds, StepRow } from "../store/read-steps.ts";
import { listNewSteps, listVersions } from "../store/watch-runs.ts";
import { SeenSteps } from "./seen-steps.ts";

/** A step that has ended. */
export interface EndedStep {
  seq: number;
  path: string;
}

/** The known state of a watched run. */
export interface WatchedState {
  run: RunSummaryRow;
  /** In the order in which they became known. The list only grows. */
  steps: readonly EndedStep[];
}

/** One watcher's claim on a run. It must be released. */
export interface Watch {
  /** The state known now; null until the first poll. */
  readonly state: WatchedState | null;
  /** Resolves when the state has changed since the last call, or the signal is aborted. */
  changed(signal: AbortSignal): Promise<void>;
  /**
   * Step results in the order given, within bounds. Watchers of one run share loaded results, unless
   * these are too large to be kept.
   */
  load(steps: readonly EndedStep[], bounds: StepBounds): Promise<readonly StepRow[]>;
  release(): void;
}

/** Watches runs for all callers of one process; see `createRunWatcher`. */
export interface RunWatcher {
  /** @throws AppError RATE_LIMITED when the company watches too many runs */
  watch(companyId: string, runId: string): Watch;
  /** Polls all watched runs once; for a loop. */
  poll(): Promise<void>;
  /** Whether any of the runs is watched. */
  watches(runIds: readonly string[]): boolean;
}

interface Watched {
  watchers: number;
  version: string | null;
  state: (WatchedState & { steps: EndedStep[] }) | null;
  seen: SeenSteps;
  /** Counts the changes, so that none is missed between two waits. */
  changes: number;
  waiting: Set<() => void>;
}

/**
 * Bytes of documents that a watcher holds while its reader takes them. A single larger result may exceed
 * them.
 */
export const WATCHED_PIECE_BYTES = 64 * 1024;

/** The dependencies of watching. */
export interface RunWatcherOptions {
  database: Database;
  /** The limit on watchers. */
  shares: Shares;
  /** Called when a run begins to be watched, so that it is polled soon. */
  onWatch: () => void;
}

/** Loaded step results that are kept for watchers of the same run who ask a moment later. */
const LOADED_MAX = 32;
const LOADED_MS = 2_000;

/**
 * Polls all watched runs with one query, and reads more only of those that have changed. Runs that nobody
 * watches cost nothing. A watcher holds no documents while it waits for its reader.
 */
export function createRunWatcher({ database, shares, onWatch }: RunWatcherOptions): RunWatcher {
  const runs = new Map<string, Watched>();
  const loaded = new LRUCache<string, Promise<readonly StepRow[]>>({
    max: LOADED_MAX,
    ttl: LOADED_MS,
  });

  const load = (
    runId: string,
    steps: readonly EndedStep[],
    bounds: StepBounds,
  ): Promise<readonly StepRow[]> => {
    const paths = steps.map(({ path }) => path);
    if (bounds.documentsMax > WATCHED_PIECE_BYTES) {
      return listStepsAt(database, runId, paths, bounds);
    }
    const key = JSON.stringify([runId, paths, bounds]);
    const known = loaded.get(key);
    if (known !== undefined) return known;
    const loading = listStepsAt(database, runId, paths, bounds);
    loaded.set(key, loading);
    loading.catch(() => loaded.delete(key));
    return loading;
  };

  const release = (runId: string, watched: Watched): void => {
    watched.watchers -= 1;
    if (watched.watchers === 0) runs.delete(runId);
  };

  return {
    watch(companyId, runId) {
      const giveBack = shares.take(companyId);
      if (giveBack === null) throw tooManyWatchers();
      const watched = runs.get(runId) ?? newlyWatched();
      runs.set(runId, watched);
      watched.watchers += 1;
      if (watched.state === null) onWatch();
      let seenChanges = 0;
      let isReleased = false;
      return {
        get state() {
          return watched.state;
        },
        async changed(signal) {
          if (watched.changes === seenChanges) await nextChange(watched, signal);
          seenChanges = watched.changes;
        },
        load: (steps, bounds) => load(runId, steps, bounds),
        release() {
          if (!isReleased) release(runId, watched);
          isReleased = true;
          giveBack();
        },
      };
    },
    poll: () => pollChanges(database, runs),
    watches: (runIds) => runIds.some((runId) => runs.has(runId)),
  };
}

/** Reads the watched runs that have changed since the last time, and tells their watchers. */
async function pollChanges(database: Database, runs: ReadonlyMap<string, Watched>): Promise<void> {
  if (runs.size === 0) return;
  // Compared by object: a run that is released and watched again meanwhile starts with an empty
  // state.
  const polled = new Map(runs);
  const versions = await listVersions(database, [...polled.keys()]);
  const changed = versions.flatMap(({ id, version }) => {
    const watched = polled.get(id);
    return watched === undefined || watched.version === version
      ? []
      : [{ runId: id, version, watched }];
  });
  if (changed.length === 0) return;
  // The run is read before its steps: if it has ended, no step is missing.
  const runIds = changed.map(({ runId }) => runId);
  const summaries = new Map((await listSummaries(database, runIds)).map((run) => [run.id, run]));
  const known = changed.map(({ runId, watched }) => ({ runId, ...watched.seen.summary() }));
  const steps = Map.groupBy(await listNewSteps(database, known), ({ runId: id }) => id);
  for (const { runId, version, watched } of changed) {
    const run = summaries.get(runId);
    if (run === undefined) continue;
    watched.version = version;
    learn(watched, run, steps.get(runId) ?? []);
  }
}

function tooManyWatchers(): AppError {
  return new AppError("RATE_LIMITED", "The company watches too many runs at the same time.", {
    details: { limit: "watchers" },
    retryAfterMs: 1_000,
  });
}

function newlyWatched(): Watched {
  return {
    watchers: 0,
    version: null,
    state: null,
    seen: new SeenSteps(),
    changes: 0,
    waiting: new Set(),
  };
}

function learn(watched: Watched, run: RunSummaryRow, steps: readonly EndedStep[]): void {
  const known = watched.state?.steps ?? [];
  for (const { seq, path } of steps) {
    if (watched.seen.has(seq)) continue;
    watched.seen.add(seq);
    known.push({ seq, path });
  }
  watched.state = { run, steps: known };
  watched.changes += 1;
  for (const wake of watched.waiting) wake();
}

function nextChange(watched: Watched, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      watched.waiting.delete(end);
      signal.removeEventListener("abort", end);
      resolve();
    };
    watched.waiting.add(end);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}
