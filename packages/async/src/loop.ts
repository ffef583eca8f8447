import { backoffMs } from "./backoff.ts";
import { Bell } from "./bell.ts";
import { sleep } from "./sleep.ts";

const BACKOFF_FIRST_MS = 400;
const BACKOFF_MAX_MS = 30_000;

/** What a loop needs of a logger; pino's loggers fit. */
export interface LoopLogger {
  error(fields: object, message: string): void;
}

export interface LoopOptions {
  /** The name in the log. */
  name: string;
  /** Ends the loop. */
  signal: AbortSignal;
  /** The pause between two rounds in milliseconds, unless woken earlier. */
  intervalMs: number;
  logger: LoopLogger;
  /**
   * One round of work, which must end soon after the signal is aborted. `"again"` means that there is
   * more to do, and the next round follows at once. A number is the pause until then, in milliseconds, in place of
   * the interval.
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

/** Lets I/O and signals in between rounds that never pause. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Checked through a function, since the compiler does not expect it to change while awaiting. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
