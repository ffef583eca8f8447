import { AppError } from "@workflow/errors";
import type { MemoryLimit } from "./cache-events.ts";
import type { MemoryBudget } from "./memory-budget.ts";

/** With less a question could not have a few columns of a large table. */
const COMPANY_BYTES_MIN = 64 * 1024 * 1024;
const RETRY_AFTER_MS = 1_000;
const MIB = 1024 * 1024;

/**
 * How much may be in use at a time, what is being loaded counted as it comes: questions of one company may
 * hold as much as all columns that are kept, and all companies twice that. Nobody waits for memory, since
 * who waits would hold some: a load that goes beyond fails.
 */
export class LoadLimits {
  readonly #budget: MemoryBudget;
  readonly #companyBytesMax: number;
  readonly #onRefused: (limit: MemoryLimit) => void;

  /** @param onRefused hears whose memory did not suffice */
  constructor(
    budget: MemoryBudget,
    companyBytesMax: number,
    onRefused: (limit: MemoryLimit) => void = () => {},
  ) {
    this.#budget = budget;
    this.#companyBytesMax = companyBytesMax;
    this.#onRefused = onRefused;
  }

  /** What one company may have in use where so much memory is kept. */
  static companyBytesMax(cacheBytesMax: number): number {
    return Math.max(cacheBytesMax, COMPANY_BYTES_MIN);
  }

  /**
   * @param tableBytes what is in use, or being loaded, of the table that a question is about
   * @throws AppError BAD_REQUEST with details {limit: "tableMemory"} when questions about one table need too
   *   much, RATE_LIMITED with the same when the company's questions do, UNAVAILABLE when everybody's do
   */
  check(companyId: string, tableBytes: number): void {
    const max = this.#companyBytesMax;
    const details = { limit: "tableMemory", maxBytes: max };
    if (tableBytes > max) {
      this.#onRefused("table");
      const message = `The columns that are asked for take more than ${Math.floor(max / MIB)} MiB of memory. Ask for fewer of them at a time: filters, the order and groups each need theirs.`;
      throw new AppError("BAD_REQUEST", message, { details });
    }
    if (this.#budget.bytesInUse(companyId) > max) {
      this.#onRefused("company");
      const message = "Your company's questions about tables need too much memory at a time.";
      throw new AppError("RATE_LIMITED", message, { details, retryAfterMs: RETRY_AFTER_MS });
    }
    if (this.#budget.bytesInUse() > 2 * max) {
      this.#onRefused("all");
      const message = "The service is temporarily unavailable.";
      throw new AppError("UNAVAILABLE", message, { retryAfterMs: RETRY_AFTER_MS });
    }
  }
}
