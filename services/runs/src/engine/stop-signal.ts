import type { ActiveClock } from "../journal/active-clock.ts";
import type { Lease } from "../task-runtime/port.ts";

const TIMER_MS_MAX = 2_147_483_647;

/**
 * Stops an execution when its lease is lost or the run's own timeout is over; short waits do not count
 * (D28).
 */
export class StopSignal {
  readonly #controller = new AbortController();
  readonly #lease: Lease;
  readonly #clock: ActiveClock;
  readonly #limitMs: number;
  #timer: NodeJS.Timeout | undefined;
  #expired = false;
  readonly #onLeaseAbort = (): void => this.abort();

  /** @param limitMs how long the run may be executed in all, by its clock */
  constructor(lease: Lease, clock: ActiveClock, limitMs: number) {
    this.#lease = lease;
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#arm();
    lease.signal.addEventListener("abort", this.#onLeaseAbort, { once: true });
    if (lease.signal.aborted) this.abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get timedOut(): boolean {
    return this.#expired || this.#clock.activeMs >= this.#limitMs;
  }

  abort(): void {
    this.#controller.abort();
  }

  /** Stops the clock while the run only waits, and starts it again. */
  setResting(isResting: boolean): void {
    clearTimeout(this.#timer);
    if (isResting) return this.#clock.pause();
    this.#clock.resume();
    this.#arm();
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#lease.signal.removeEventListener("abort", this.#onLeaseAbort);
  }

  #arm(): void {
    const remainingMs = this.#limitMs - this.#clock.activeMs;
    const waitMs = Math.max(0, Math.min(remainingMs, TIMER_MS_MAX));
    this.#timer = setTimeout(() => {
      // A timer holds 24.8 days at most; a run may have thirty.
      if (waitMs < remainingMs) return this.#arm();
      // A timer may fire a moment before its time.
      this.#expired = true;
      this.abort();
    }, waitMs);
  }
}
