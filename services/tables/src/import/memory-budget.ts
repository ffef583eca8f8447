import { AppError } from "@workflow/errors";

const RETRY_AFTER_MS = 2_000;

/** Memory that calls share which have to keep something until they have all of it. */
export interface MemoryBudget {
  /** A part of it for one call, empty at first. */
  open(): MemoryShare;
}

/** What one call holds of the budget. */
export interface MemoryShare extends Disposable {
  /**
   * Takes more.
   *
   * @throws AppError UNAVAILABLE when the calls together would hold too much
   */
  take(bytes: number): void;
}

/** Makes a budget of so many bytes for all calls together. */
export function createMemoryBudget(bytesMax: number): MemoryBudget {
  let free = bytesMax;
  return {
    open() {
      let held = 0;
      return {
        take(bytes) {
          if (bytes > free) {
            throw new AppError("UNAVAILABLE", "Too much is being imported at the moment.", {
              retryAfterMs: RETRY_AFTER_MS,
            });
          }
          free -= bytes;
          held += bytes;
        },
        [Symbol.dispose]() {
          free += held;
          held = 0;
        },
      };
    },
  };
}
