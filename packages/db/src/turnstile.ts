/** Admits a limited number of holders; the others wait in line, each for a limited time. */
export interface Turnstile {
  /** Waits for a place; rejects with the result of `timeoutError` when the wait was too long. */
  enter(): Promise<void>;
  /** Passes the place to the next in line. Call it once for each `enter` that resolved. */
  leave(): void;
  /** Rejects everybody in line. */
  dismiss(error: unknown): void;
  waiting(): number;
}

interface Waiter {
  resolve: () => void;
  reject: (error: unknown) => void;
}

export function createTurnstile(
  places: number,
  timeoutMs: number,
  timeoutError: () => Error,
): Turnstile {
  let taken = 0;
  const line = new Set<Waiter>();

  const wait = async (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { resolve, reject };
    line.add(waiter);
    const timer = setTimeout(() => reject(timeoutError()), timeoutMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      line.delete(waiter);
    }
  };

  return {
    enter: async () => {
      if (taken >= places) return wait();
      taken += 1;
    },
    leave: () => {
      const [next] = line;
      if (next === undefined) {
        taken -= 1;
        return;
      }
      line.delete(next);
      next.resolve();
    },
    dismiss: (error) => {
      for (const waiter of line) waiter.reject(error);
      line.clear();
    },
    waiting: () => line.size,
  };
}
