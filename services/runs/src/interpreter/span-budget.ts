/** Attempts of steps with a span of their own, in one execution of a run: a loop may make a million. */
const SPANS_MAX = 1_000;

/** How many spans one execution may still make. */
export class SpanBudget {
  #left = SPANS_MAX;

  take(): boolean {
    this.#left -= 1;
    return this.#left >= 0;
  }
}
