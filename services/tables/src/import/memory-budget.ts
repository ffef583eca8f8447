import { AppError } from "@workflow/errors";

const RETRY_AFTER_MS = 2_000;

/** The memory that calls share while each of them gathers something as a whole. */
export interface MemoryBudget {
  /** Opens one call's part of it, which is empty at first. */
  open(): MemoryShare;
}

/** One call's part of a budget. */
export interface MemoryShare extends Disposable {
  /**
   * Takes more memory.
   * @throws AppError UNAVAILABLE when the calls together would hold too much
   */
  take(bytes: number): void;
}

/** Makes a budget of this number of bytes for all calls together. */
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
