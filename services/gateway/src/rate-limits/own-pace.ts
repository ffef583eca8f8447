/** How often it is noted that the event loop turns. */
const TICK_MS = 20;
/** A gateway that stood still for so long may have been suspected: less than an answer may take. */
const STILL_MS = 100;

/**
 * Notices that this gateway has stood still itself: then others may have decided in its place, and what they told it
 * waits to be read.
 */
export class OwnPace {
  readonly #now: () => number;
  readonly #onStill: () => void;
  readonly #timer: NodeJS.Timeout;
  #tickedAt: number;

  constructor(now: () => number, onStill: () => void) {
    this.#now = now;
    this.#onStill = onStill;
    this.#tickedAt = now();
    this.#timer = setInterval(() => this.check(), TICK_MS);
    this.#timer.unref();
  }

  /** To be called before what depends on it, for timers come after what else was waiting. */
  check(now = this.#now()): void {
    const isStill = now - this.#tickedAt > STILL_MS;
    this.#tickedAt = now;
    if (isStill) this.#onStill();
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
