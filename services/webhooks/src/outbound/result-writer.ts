import { answerTogether, backoffMs, Batcher, sleep } from "@workflow/async";
import { databaseErrorToAppError } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import { writeResults } from "../store/deliveries.ts";
import type { DeliveryResult } from "../store/deliveries.ts";
import { countFailures } from "../store/delivery-endpoints.ts";
import type { AttemptTally } from "../store/delivery-endpoints.ts";
import type { AttemptOutcome } from "./attempt.ts";
import type { EndpointDisabler } from "./disable-endpoint.ts";

/** An attempt that is to be recorded. */
export interface FinishedAttempt extends Omit<DeliveryResult, "attemptMembers"> {
  companyId: string;
  url: string;
  outcome: AttemptOutcome;
  /** Whether a success may reset the count of failures, because there may be some. */
  mayReset: boolean;
}

/** The dependencies of the writer. */
export interface ResultWriterOptions {
  database: Database;
  disabler: EndpointDisabler;
  logger: Logger;
  /** Ends the wait for an unavailable database. */
  signal: AbortSignal;
}

const BATCH_MAX = 256;
const RETRIES = { firstMs: 100, maxMs: 5_000 } as const;
/** The status by which a receiver says that it is gone for good. */
const GONE = 410;

/** Records the outcomes of attempts. Outcomes that arrive during a statement share the next one. */
export class ResultWriter {
  readonly #options: ResultWriterOptions;
  readonly #writes: Batcher<FinishedAttempt, void>;

  constructor(options: ResultWriterOptions) {
    this.#options = options;
    this.#writes = new Batcher({
      itemsMax: BATCH_MAX,
      batchesMax: 1,
      handle: answerTogether((finished) => this.#writeAll(finished)),
    });
  }

  /** Resolves when the attempt is recorded, however long the database is unavailable. */
  write(finished: FinishedAttempt): Promise<void> {
    return this.#writes.ask(finished);
  }

  async #writeAll(finished: readonly FinishedAttempt[]): Promise<void[]> {
    await this.#persist(finished);
    return finished.map(() => undefined);
  }

  async #persist(finished: readonly FinishedAttempt[]): Promise<void> {
    const { database, logger } = this.#options;
    const results = finished.map((each) => ({ ...each, attemptMembers: attemptMembers(each) }));
    try {
      await this.#writeWithRetries(() => writeResults(database, results));
      await this.#writeWithRetries(() => this.#count(finished));
    } catch (error) {
      logger.error(
        { err: error, results: results.length },
        "could not write results of deliveries",
      );
      // An attempt that the database refuses must not block the others; its lease ends in time.
      if (finished.length > 1) for (const each of finished) await this.#persist([each]);
    }
  }

  /** Repeats a write until the database answers, or the process stops. */
  async #writeWithRetries(write: () => Promise<unknown>): Promise<void> {
    const { logger, signal } = this.#options;
    for (let failures = 1; ; failures += 1) {
      try {
        await write();
        return;
      } catch (error) {
        const isAway = databaseErrorToAppError(error).reason === "UNAVAILABLE";
        if (!isAway || signal.aborted) throw error;
        logger.warn({ err: error }, "results of deliveries have to wait for the database");
        await sleep(backoffMs(failures, RETRIES), signal);
      }
    }
  }

  async #count(finished: readonly FinishedAttempt[]): Promise<void> {
    const { database, disabler } = this.#options;
    const counted = finished.filter(({ isSuccess, mayReset }) => !isSuccess || mayReset);
    if (counted.length === 0) return;
    const counts = await countFailures(database, tally(counted));
    const gone = new Set(
      counted.flatMap(({ endpointId, statusCode }) => (statusCode === GONE ? [endpointId] : [])),
    );
    const companies = new Map(counted.map(({ endpointId, companyId }) => [endpointId, companyId]));
    for (const [endpointId, failures] of counts) {
      const companyId = companies.get(endpointId);
      if (companyId === undefined) continue;
      await disabler.disableIfDue({ endpointId, companyId }, failures, gone.has(endpointId));
    }
  }
}

function tally(finished: readonly FinishedAttempt[]): AttemptTally[] {
  const tallies = new Map<string, AttemptTally>();
  for (const { endpointId, epoch, isSuccess } of finished) {
    const { hadSuccess = false, failures = 0 } = tallies.get(endpointId) ?? {};
    tallies.set(endpointId, {
      endpointId,
      epoch,
      hadSuccess: hadSuccess || isSuccess,
      failures: isSuccess ? 0 : failures + 1,
    });
  }
  return [...tallies.values()];
}

/** The attempt as JSON without braces, because its number is added when it is written. */
function attemptMembers({ url, outcome }: FinishedAttempt): string {
  const { at, statusCode, durationMs, error, responseBody } = outcome;
  const attempt = { at: at.toISOString(), url, statusCode, durationMs, error, responseBody };
  return JSON.stringify(attempt).slice(1, -1);
}
