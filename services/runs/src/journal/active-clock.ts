/** Measures how long a run has been executed, without short waits (D28). */
export class ActiveClock {
  #beforeMs: number;
  /** Null while the clock stands still. */
  #from: number | null = performance.now();

  /** @param beforeMs execution time of earlier executions, in milliseconds */
  constructor(beforeMs: number) {
    this.#beforeMs = beforeMs;
  }

  get activeMs(): number {
    return this.#beforeMs + (this.#from === null ? 0 : performance.now() - this.#from);
  }

  /** From now on the run only waits. */
  pause(): void {
    this.#beforeMs = this.activeMs;
    this.#from = null;
  }

  resume(): void {
    this.#from ??= performance.now();
  }
}
