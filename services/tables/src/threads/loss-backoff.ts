import { LRUCache } from "lru-cache";

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;
/** The time without a loss after which earlier losses are forgotten. */
const FORGET_MS = 600_000;
const KEYS_MAX = 10_000;

/** The losses of one table or company. */
interface Losses {
  readonly count: number;
  /** The end of the refusal. */
  readonly refusedUntil: number;
  /** Whether a question was answered since the last loss. */
  readonly hasRecovered: boolean;
}

/** The options of a back-off. */
export interface LossBackoffOptions {
  /** The number of losses before the first refusal; 0 by default. */
  readonly free?: number;
  /**
   * The milliseconds of the first refusal, 1,000 by default. Each further loss doubles that, up to 60 s.
   */
  readonly firstMs?: number | undefined;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/**
 * Refuses questions about something whose questions ended a thread: for 1 s after the first time, for twice as
 * long after each one more, up to 60 s. An answer ends the probation that follows a refusal; the count is
 * forgotten after 10 minutes without a loss, so that a caller who mixes harmless questions in gains nothing.
 */
export class LossBackoff {
  readonly #known: LRUCache<string, Losses>;
  readonly #free: number;
  readonly #firstMs: number;
  readonly #now: () => number;

  constructor(options: LossBackoffOptions = {}) {
    const { free = 0, firstMs = FIRST_MS, now = () => performance.now() } = options;
    this.#free = free;
    this.#firstMs = firstMs;
    this.#now = now;
    const perf = { now };
    this.#known = new LRUCache({ max: KEYS_MAX, ttl: FORGET_MS, ttlResolution: 0, perf });
  }

  /** The milliseconds for which questions are refused from now on; 0 when they are not. */
  refusedForMs(key: string): number {
    const losses = this.#known.get(key);
    return losses === undefined ? 0 : Math.max(0, Math.ceil(losses.refusedUntil - this.#now()));
  }

  /** Whether the next question has to run alone, to show that it does no harm. */
  isOnProbation(key: string): boolean {
    return this.#known.get(key)?.hasRecovered === false;
  }

  /** Records that a question has ended a thread. */
  lost(key: string): void {
    const count = (this.#known.get(key)?.count ?? 0) + 1;
    const times = count - this.#free;
    const longestMs = Math.max(LONGEST_MS, this.#firstMs);
    const waitMs = times <= 0 ? 0 : Math.min(longestMs, this.#firstMs * 2 ** (times - 1));
    this.#known.set(key, { count, refusedUntil: this.#now() + waitMs, hasRecovered: false });
  }

  /** Records that a question was answered. */
  answered(key: string): void {
    const losses = this.#known.get(key);
    if (losses === undefined || losses.hasRecovered) return;
    // The time since the last loss keeps running.
    this.#known.set(key, { ...losses, hasRecovered: true }, { noUpdateTTL: true });
  }
}
