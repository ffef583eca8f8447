import { Turns } from "@workflow/async";
import { AppError } from "@workflow/errors";

/** Admits a limited number of imports; the others wait in line. */
export interface Seats {
  /**
   * Resolves when the company may start one more import; the function that it returns releases the
   * place. Rejects with UNAVAILABLE when too many wait or the wait takes too long.
   */
  take(company: string): Promise<() => void>;
}

const WAITING_MAX = 50;
/** Well below the time after which the server gives up an incomplete request. */
const WAIT_MS = 60_000;

/**
 * @param seats the places in all
 * @param seatsEach the places of one company
 */
export function createSeats({ seats, seatsEach }: { seats: number; seatsEach: number }): Seats {
  const turns = new Turns({ perTenant: seatsEach, total: seats });
  let waiting = 0;
  return {
    async take(company) {
      const leave = turns.takeNow(company);
      if (leave !== null) return leave;
      if (waiting >= WAITING_MAX) throw tooMany();
      waiting += 1;
      try {
        return await turns.take(company, AbortSignal.timeout(WAIT_MS));
      } catch (cause) {
        throw tooMany(cause);
      } finally {
        waiting -= 1;
      }
    },
  };
}

function tooMany(cause?: unknown): AppError {
  const message = "Too many large imports are under way. Try again shortly.";
  return new AppError("UNAVAILABLE", message, { retryAfterMs: 10_000, cause });
}
