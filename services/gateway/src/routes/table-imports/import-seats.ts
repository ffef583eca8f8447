import { AppError } from "@workflow/errors";

/** Admits a limited number of imports; the others wait in line. */
export interface Seats {
  /**
   * Resolves when the company may start one more import; the function that it returns releases the
   * place. Rejects with UNAVAILABLE when too many wait or the wait takes too long.
   */
  take(company: string): Promise<() => void>;
}

interface Waiting {
  company: string;
  enter: () => void;
}

const WAITING_MAX = 50;
/** Well below the time after which the server gives up an incomplete request. */
const WAIT_MS = 60_000;

/**
 * @param seats the places in all
 * @param seatsEach the places of one company
 */
export function createSeats({ seats, seatsEach }: { seats: number; seatsEach: number }): Seats {
  const taken = new Map<string, number>();
  let takenInAll = 0;
  const line: Waiting[] = [];

  const hasRoom = (company: string): boolean =>
    takenInAll < seats && (taken.get(company) ?? 0) < seatsEach;

  const change = (company: string, by: 1 | -1): void => {
    takenInAll += by;
    const count = (taken.get(company) ?? 0) + by;
    if (count === 0) taken.delete(company);
    else taken.set(company, count);
  };

  const leave = (company: string): void => {
    change(company, -1);
    const index = line.findIndex((each) => hasRoom(each.company));
    if (index === -1) return;
    for (const next of line.splice(index, 1)) {
      change(next.company, 1);
      next.enter();
    }
  };

  const wait = (company: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        line.splice(line.indexOf(waiting), 1);
        reject(tooMany());
      }, WAIT_MS);
      const enter = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const waiting = { company, enter };
      line.push(waiting);
    });

  return {
    async take(company) {
      if (hasRoom(company)) change(company, 1);
      else if (line.length < WAITING_MAX) await wait(company);
      else throw tooMany();
      return () => leave(company);
    },
  };
}

function tooMany(): AppError {
  const message = "Too many large imports are under way. Try again shortly.";
  return new AppError("UNAVAILABLE", message, { retryAfterMs: 10_000 });
}
