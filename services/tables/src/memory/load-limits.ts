import { AppError } from "@workflow/errors";
import type { MemoryLimit } from "./cache-events.ts";
import type { MemoryBudget } from "./memory-budget.ts";

/** A question needs this much for a few columns of a large table. */
const COMPANY_BYTES_MIN = 64 * 1024 * 1024;
const RETRY_AFTER_MS = 1_000;
const MIB = 1024 * 1024;

/**
 * Limits the memory in use, including columns that are being loaded. Questions of one company may use as much as
 * all kept columns, and all companies twice that. A load beyond the limit fails at once. It does not wait, since it
 * would hold memory while it waits.
 */
export class LoadLimits {
  readonly #budget: MemoryBudget;
  readonly #companyBytesMax: number;
  readonly #onRefused: (limit: MemoryLimit) => void;

  /** @param onRefused receives the limit that was exceeded */
  constructor(
    budget: MemoryBudget,
    companyBytesMax: number,
    onRefused: (limit: MemoryLimit) => void = () => {},
  ) {
    this.#budget = budget;
    this.#companyBytesMax = companyBytesMax;
    this.#onRefused = onRefused;
  }

  /** The limit of one company for this size of the cache. */
  static companyBytesMax(cacheBytesMax: number): number {
    return Math.max(cacheBytesMax, COMPANY_BYTES_MIN);
  }

  /**
   * Checks the limits after a load has grown.
   * @param tableBytes the memory in use, or being loaded, for the table of the question
   * @throws AppError BAD_REQUEST with details {limit: "tableMemory"} when questions about one table need too much,
   * RATE_LIMITED with the same when the company's questions do, UNAVAILABLE when everybody's do
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
