import { setTimeout as delay } from "node:timers/promises";

/** Doubles from `firstMs` to `maxMs`, ±20 % so that several waiters do not wake together. */
export function backoffMs(attempt: number, firstMs: number, maxMs: number): number {
  const exact = Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 30));
  return exact * (0.8 + Math.random() * 0.4);
}

/** Waits, or returns early when the signal is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch {
    // Aborted: the caller checks the signal.
  }
}

/** A bell that remembers one ring while nobody waits for it. */
export interface Bell {
  ring(): void;
  /** Waits for a ring, at most `ms`, and says whether it rang. */
  wait(ms: number, signal: AbortSignal): Promise<boolean>;
}

export function createBell(): Bell {
  let rung = false;
  let waiting: (() => void) | null = null;
  return {
    ring() {
      rung = true;
      waiting?.();
    },
    async wait(ms, signal) {
      if (!rung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const done = (): void => {
            clearTimeout(timer);
            signal.removeEventListener("abort", done);
            resolve();
          };
          const timer = setTimeout(done, ms);
          waiting = done;
          signal.addEventListener("abort", done, { once: true });
        });
        waiting = null;
      }
      const answer = rung;
      rung = false;
      return answer;
    },
  };
}
