import { startTimer } from "@workflow/async";
import type { ActiveClock } from "../journal/active-clock.ts";
import type { Lease } from "../task-runtime/port.ts";

/**
 * Stops an execution when its lease is lost or the run's own timeout is over; short waits do not count
 * (D28).
 */
export class StopSignal {
  readonly #controller = new AbortController();
  readonly #lease: Lease;
  readonly #clock: ActiveClock;
  readonly #limitMs: number;
  #callOffTimer = (): void => {};
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
    return this.#leftMs() <= 0;
  }

  abort(): void {
    this.#controller.abort();
  }

  /** Stops the clock while the run only waits, and starts it again. */
  setResting(isResting: boolean): void {
    this.#callOffTimer();
    if (isResting) return this.#clock.pause();
    this.#clock.resume();
    this.#arm();
  }

  release(): void {
    this.#callOffTimer();
    this.#lease.signal.removeEventListener("abort", this.#onLeaseAbort);
  }

  #arm(): void {
    this.#callOffTimer = startTimer(
      () => this.#leftMs(),
      () => this.abort(),
    );
  }

  #leftMs(): number {
    return this.#limitMs - this.#clock.activeMs;
  }
}
