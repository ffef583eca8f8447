import { backoffMs } from "./backoff.ts";
import { Bell } from "./bell.ts";
import { sleep } from "./sleep.ts";

const BACKOFF_FIRST_MS = 400;
const BACKOFF_MAX_MS = 30_000;

/** The part of a logger that a loop needs; pino's loggers fit. */
export interface LoopLogger {
  error(fields: object, message: string): void;
}

export interface LoopOptions {
  /** The name of the task in the log. */
  name: string;
  /** Ends the loop. */
  signal: AbortSignal;
  /** The pause between two rounds in milliseconds; `wake` ends it early. */
  intervalMs: number;
  logger: LoopLogger;
  /**
   * One round of work, which must end soon after the signal is aborted. `"again"` means that there is
   * more to do, and the next round follows at once. A number is the pause until the next round, in
   * milliseconds, instead of the interval.
   */
  run: (signal: AbortSignal) => Promise<"again" | number | void>;
}

/** A background task that repeats. */
export interface Loop {
  /** Ends the current pause; during a round, the next one follows without a pause. */
  wake: () => void;
  /** Resolves when the signal was aborted and the last round has ended; never rejects. */
  readonly done: Promise<void>;
}

/**
 * Repeats a task: the first round at once, and never two rounds at a time. A failed round is logged.
 * The pause after it doubles with each further failure, up to 30 s or a longer interval; `wake` does
 * not shorten that pause.
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
      else await bell.wait(outcome ?? intervalMs, signal);
    } catch (error) {
      if (isAborted(signal)) break;
      failures += 1;
      logger.error({ err: error, loop: name, failures }, "a background task failed");
      const limits = { firstMs: BACKOFF_FIRST_MS, maxMs: Math.max(BACKOFF_MAX_MS, intervalMs) };
      await sleep(backoffMs(failures, limits), signal);
    }
  }
}

/** Lets I/O and signals run between rounds without a pause. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A function, because the compiler would not expect the flag to change during an await. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
