import type { Logger } from "pino";

const BACKOFF_MIN_MS = 200;
const BACKOFF_MAX_MS = 30_000;

export interface LoopOptions {
  /** The name in the log. */
  name: string;
  /** Ends the loop. */
  signal: AbortSignal;
  /** The pause between two runs, unless woken earlier. */
  intervalMs: number;
  logger: Logger;
  /**
   * One round of work, which must end soon after the signal is aborted. `"again"` means that there is
   * more to do, and the next round follows at once.
   */
  run: (signal: AbortSignal) => Promise<"again" | void>;
}

/** A background task that repeats. */
export interface Loop {
  /** Ends the current pause; during a round, the next one follows without a pause. */
  wake: () => void;
  /** Resolves when the signal was aborted and the last round has ended; never rejects. */
  readonly done: Promise<void>;
}

/**
 * Repeats a task, its first round at once and never two rounds at a time. A round that fails is logged.
 * The pause after it doubles with each further failure (up to 30 s, or the interval when that is
 * longer); being woken does not shorten that pause.
 */
export function loop(options: LoopOptions): Loop {
  const bell = new Bell();
  return { wake: () => bell.ring(), done: repeat(options, bell) };
}

async function repeat(options: LoopOptions, bell: Bell): Promise<void> {
  const { name, signal, intervalMs, logger, run } = options;
  let failures = 0;
  while (!signal.aborted) {
    bell.silence();
    try {
      const outcome = await run(signal);
      failures = 0;
      if (outcome === "again") await nextTurn();
      else await bell.pause(intervalMs, signal);
    } catch (error) {
      if (isAborted(signal)) break;
      failures += 1;
      logger.error({ err: error, loop: name, failures }, "a background task failed");
      await new Bell().pause(backoffMs(failures, intervalMs), signal);
    }
  }
}

/** Half fixed and half random, so that processes which failed together do not return together. */
function backoffMs(failures: number, intervalMs: number): number {
  const longestMs = Math.max(BACKOFF_MAX_MS, intervalMs);
  const fullMs = Math.min(BACKOFF_MIN_MS * 2 ** Math.min(failures, 20), longestMs);
  return fullMs / 2 + (fullMs / 2) * Math.random();
}

/** Lets I/O and signals in between rounds that never pause. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Checked through a function, since the compiler does not expect it to change while awaiting. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** A pause that can be cut short, even by a ring before it began. */
class Bell {
  #hasRung = false;
  #wakeSleeper: (() => void) | undefined;

  ring(): void {
    this.#hasRung = true;
    this.#wakeSleeper?.();
  }

  silence(): void {
    this.#hasRung = false;
  }

  pause(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#hasRung || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        this.#wakeSleeper = undefined;
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener("abort", end, { once: true });
      this.#wakeSleeper = end;
    });
  }
}
