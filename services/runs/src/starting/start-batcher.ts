import { Batcher } from "@workflow/async";
import type { Asked } from "@workflow/async";
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

type Waiting = Asked<NewRun, StoreOutcome>;

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
  readonly #runs = new Batcher<NewRun, StoreOutcome>({
    itemsMax: BATCH_MAX,
    sizeMax: BATCH_CHARS_MAX,
    sizeOf: ({ input }) => input.length,
    // A key occurs once in a statement. The next run with the same key waits for the next one.
    keyOf,
    batchesMax: STATEMENTS_MAX,
    handle: (batch) => this.#storeBatch(batch),
    // A run that cannot be stored must not fail the others.
    isOfOneItem: (error) => databaseErrorToAppError(error).reason !== "UNAVAILABLE",
  });

  constructor(context: StoringContext) {
    this.#context = context;
  }

  /** Stores a run and its task; resolves after the commit. */
  store(run: NewRun): Promise<StoreOutcome> {
    return this.#runs.ask(run);
  }

  async #storeBatch(batch: readonly Waiting[]): Promise<void> {
    const stored = await storeRuns(
      this.#context,
      batch.map(({ item }) => item),
    );
    const missing: Waiting[] = [];
    for (const waiting of batch) {
      if (stored.has(waiting.item.id)) waiting.resolve({ kind: "stored" });
      else missing.push(waiting);
    }
    if (missing.length > 0) await this.#explain(missing);
  }

  /** Answers the callers whose run was not stored with the reason. */
  async #explain(missing: readonly Waiting[]): Promise<void> {
    try {
      const existing = await this.#findExisting(missing.map(({ item }) => item));
      for (const { item, resolve } of missing) {
        const runId = existing.get(item.id);
        resolve(runId === undefined ? { kind: "overtaken" } : { kind: "existing", runId });
      }
    } catch (error) {
      // The error is not rethrown: the batch is stored, and no run of it may be stored again.
      for (const { reject } of missing) reject(error);
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
