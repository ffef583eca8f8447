import { databaseErrorToAppError } from "@workflow/db";
import { findKeyedRuns } from "../store/start-runs.ts";
import type { NewRun } from "../store/start-runs.ts";
import type { StoringContext } from "./start-in-transaction.ts";
import { storeRuns } from "./store-runs.ts";

/** The outcome of storing a run. */
export type StoreOutcome =
  | { kind: "stored" }
  /** Its deployment is no longer the active one. */
  | { kind: "overtaken" }
  /** The run's idempotency key has started that run before. */
  | { kind: "existing"; runId: string };

interface Waiting {
  run: NewRun;
  resolve: (outcome: StoreOutcome) => void;
  reject: (error: unknown) => void;
}

const BATCH_MAX = 200;
/** Characters of inputs in one batch. A statement carries them all in one parameter. */
const BATCH_CHARS_MAX = 8 * 1024 * 1024;
/** Two statements at a time: one is prepared and sent while the other waits for its commit. */
const STATEMENTS_MAX = 2;

/**
 * Stores runs that callers start. Runs that arrive while earlier ones are being stored share a statement
 * and its commit, from all callers, with a key or without.
 */
export class StartBatcher {
  readonly #context: StoringContext;
  #waiting: Waiting[] = [];
  #statements = 0;

  constructor(context: StoringContext) {
    this.#context = context;
  }

  /** Stores a run and its task; resolves after the commit. */
  store(run: NewRun): Promise<StoreOutcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ run, resolve, reject });
      // The batch begins in the next turn of the event loop, so that requests which arrive together share
      // a commit.
      if (this.#waiting.length === 1) setImmediate(() => this.#pump());
    });
  }

  #pump(): void {
    while (this.#statements < STATEMENTS_MAX && this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      this.#statements += 1;
      void this.#storeBatch(batch).finally(() => {
        this.#statements -= 1;
        this.#pump();
      });
    }
  }

  /** A key occurs once in a statement. The next run with the same key waits for the next one. */
  #takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    const later: Waiting[] = [];
    const keys = new Set<string>();
    let chars = 0;
    for (const item of this.#waiting) {
      const key = keyOf(item.run);
      const fits = batch.length < BATCH_MAX && chars < BATCH_CHARS_MAX;
      if (fits && (key === null || !keys.has(key))) {
        batch.push(item);
        chars += item.run.input.length;
      } else later.push(item);
      if (key !== null) keys.add(key);
    }
    this.#waiting = later;
    return batch;
  }

  async #storeBatch(batch: readonly Waiting[]): Promise<void> {
    let stored: ReadonlySet<string>;
    try {
      stored = await storeRuns(
        this.#context,
        batch.map((item) => item.run),
      );
    } catch (error) {
      const isolated = batch.length > 1 && databaseErrorToAppError(error).reason !== "UNAVAILABLE";
      // A run that cannot be stored must not fail the others.
      if (isolated) for (const item of batch) await this.#storeBatch([item]);
      else for (const item of batch) item.reject(error);
      return;
    }
    const missing: Waiting[] = [];
    for (const item of batch) {
      if (stored.has(item.run.id)) item.resolve({ kind: "stored" });
      else missing.push(item);
    }
    if (missing.length > 0) await this.#explain(missing);
  }

  /** Answers the callers whose run was not stored with the reason. */
  async #explain(missing: readonly Waiting[]): Promise<void> {
    try {
      const existing = await this.#findExisting(missing.map(({ run }) => run));
      for (const { run, resolve } of missing) {
        const runId = existing.get(run.id);
        resolve(runId === undefined ? { kind: "overtaken" } : { kind: "existing", runId });
      }
    } catch (error) {
      for (const item of missing) item.reject(error);
    }
  }

  async #findExisting(runs: readonly NewRun[]): Promise<ReadonlyMap<string, string>> {
    const keyed = runs.flatMap(({ id, companyId, workflowId, idempotencyKey: key }) =>
      key === null ? [] : { id, companyId, workflowId, key },
    );
    return keyed.length === 0 ? new Map() : findKeyedRuns(this.#context.database, keyed);
  }
}

function keyOf({ companyId, workflowId, idempotencyKey }: NewRun): string | null {
  return idempotencyKey === null ? null : `${companyId} ${workflowId} ${idempotencyKey}`;
}
