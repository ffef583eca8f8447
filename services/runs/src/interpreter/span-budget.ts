/** Most attempts of steps with a span of their own in one run: a loop may make a million. */
const SPANS_MAX = 1_000;

/** Counts how many more attempts of an execution may have spans. */
export class SpanBudget {
  #left: number;

  /** @param begun steps that earlier executions have begun, or that were copied from another run */
  constructor(begun: number) {
    this.#left = SPANS_MAX - begun;
  }

  take(): boolean {
    this.#left -= 1;
    return this.#left >= 0;
  }
}
