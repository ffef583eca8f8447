import { AppError } from "@workflow/errors";
import { Turns } from "@workflow/async";
import type { ReadingCaller } from "../store/reading-database.ts";
import type { TableName } from "../store/states.ts";
import { LossBackoff } from "./loss-backoff.ts";
import { ThreadEnded } from "./thread.ts";

const NEVER = new AbortController().signal;
/** The number of threads that a company may lose before all its tables are refused. */
const COMPANY_LOSSES_FREE = 2;

/**
 * Repeats questions one at a time: those of a thread that has ended, and those about tables that have ended one
 * before. So the question on trial is to blame when a thread ends, and only its table is refused for a while. From
 * its third loss on a company is refused as a whole.
 */
export class Trials {
  readonly #tables: LossBackoff;
  readonly #companies: LossBackoff;
  readonly #turns: readonly Turns[];
  readonly #onRefused: () => void;

  /**
   * @param options.threads the number of threads; each has a line of its own
   * @param options.firstMs the milliseconds of the first refusal
   * @param options.onRefused called for each refused question
   */
  constructor(options: { threads: number; firstMs?: number | undefined; onRefused: () => void }) {
    const { threads, firstMs, onRefused } = options;
    this.#tables = new LossBackoff({ firstMs });
    this.#companies = new LossBackoff({ firstMs, free: COMPANY_LOSSES_FREE });
    this.#turns = Array.from({ length: threads }, () => new Turns({ perTenant: 1, total: 1 }));
    this.#onRefused = onRefused;
  }

  /**
   * Throws while questions about the table are refused.
   * @throws AppError UNAVAILABLE
   */
  requireAdmitted({ tableId, companyId }: TableName): void {
    const table = this.#tables.refusedForMs(tableId);
    const waitMs = Math.max(table, this.#companies.refusedForMs(companyId));
    if (waitMs === 0) return;
    this.#onRefused();
    throw refused(waitMs, undefined);
  }

  /** Whether a question about the table has to go to `run` at once. */
  isOnProbation({ tableId }: TableName): boolean {
    return this.#tables.isOnProbation(tableId);
  }

  /**
   * Asks a question while no other is on trial in the same thread.
   * @param options.place the place of the thread
   * @param options.isOver whether threads end because the service ends
   * @throws AppError UNAVAILABLE when the question ends a thread, or when others about the table have ended one
   * meanwhile
   */
  async run<Answer>(
    table: TableName,
    ask: () => Promise<Answer>,
    { place, caller, isOver }: { place: number; caller?: ReadingCaller; isOver: () => boolean },
  ): Promise<Answer> {
    const { tableId, companyId } = table;
    const turns = this.#turns[place];
    if (turns === undefined) throw new RangeError(`there is no thread ${place}`);
    const leave = await turns.take(companyId, caller?.signal ?? NEVER);
    try {
      this.requireAdmitted(table);
      const answer = await ask();
      this.#tables.answered(tableId);
      return answer;
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      if (isOver()) throw refused(1_000, error);
      this.#tables.lost(tableId);
      this.#companies.lost(companyId);
      throw refused(this.#tables.refusedForMs(tableId), error);
    } finally {
      leave();
    }
  }
}

function refused(retryAfterMs: number, cause: ThreadEnded | undefined): AppError {
  const message = "Questions about this table have failed for want of memory. Try again later.";
  const internal = "a thread of data tables has ended by a question about the table";
  return new AppError("UNAVAILABLE", message, { internal, retryAfterMs, cause });
}
