import { AppError } from "@workflow/errors";

/** Lets a number of imports in at once; the others wait in line. */
export interface Seats {
  /**
   * Resolves when there is room for one more of the company's; the function that it gives makes room
   * again. Rejects with UNAVAILABLE when too many wait or it takes too long.
   */
  take(company: string): Promise<() => void>;
}

interface Waiting {
  company: string;
  enter: () => void;
}

const WAITING_MAX = 50;
/** Well within the time after which the server gives up a request that does not arrive. */
const WAIT_MS = 60_000;

/** So many seats in all, and so many for each company. */
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
