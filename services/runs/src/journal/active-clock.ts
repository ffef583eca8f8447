/** How long a run has been executed, short waits left out (D28). */
export class ActiveClock {
  #beforeMs: number;
  /** Null while it stands still. */
  #from: number | null = performance.now();

  /** @param beforeMs execution time before, in milliseconds */
  constructor(beforeMs: number) {
    this.#beforeMs = beforeMs;
  }

  get activeMs(): number {
    return this.#beforeMs + (this.#from === null ? 0 : performance.now() - this.#from);
  }

  /** The run only waits from now on. */
  pause(): void {
    this.#beforeMs = this.activeMs;
    this.#from = null;
  }

  resume(): void {
    this.#from ??= performance.now();
  }
}
