import type { Lease } from "../task-runtime/port.ts";

const TIMER_MS_MAX = 2_147_483_647;

/** Stops an execution when its lease is lost or the run's own time is up (D28). */
export class StopSignal {
  readonly #controller = new AbortController();
  readonly #lease: Lease;
  readonly #timer: NodeJS.Timeout;
  readonly #deadline: number;
  #expired = false;
  readonly #onLeaseAbort = (): void => this.abort();

  /** @param remainingMs how long the run may still be executed */
  constructor(lease: Lease, remainingMs: number) {
    this.#lease = lease;
    this.#deadline = performance.now() + remainingMs;
    this.#timer = setTimeout(
      () => {
        // A timer may fire a moment before its time.
        this.#expired = true;
        this.abort();
      },
      Math.max(0, Math.min(remainingMs, TIMER_MS_MAX)),
    );
    lease.signal.addEventListener("abort", this.#onLeaseAbort, { once: true });
    if (lease.signal.aborted) this.abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get timedOut(): boolean {
    return this.#expired || performance.now() >= this.#deadline;
  }

  abort(): void {
    this.#controller.abort();
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#lease.signal.removeEventListener("abort", this.#onLeaseAbort);
  }
}
