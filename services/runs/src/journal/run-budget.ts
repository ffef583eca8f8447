import { runTooLarge, runTooLong, STEPS_MAX } from "../domain/run-limits.ts";
import type { OpenSteps } from "./open-steps.ts";
import { isInside } from "./step-results.ts";
import type { StepResults } from "./step-results.ts";

/** The limits of a run, checked before each step. */
export class RunBudget {
  readonly #results: StepResults;
  readonly #open: OpenSteps;
  readonly #bytesMax: number;

  /** @param bytesMax the most bytes that the inputs and outputs of the steps may have together (D56) */
  constructor(results: StepResults, open: OpenSteps, bytesMax: number) {
    this.#results = results;
    this.#open = open;
    this.#bytesMax = bytesMax;
  }

  /** @throws RunLimitError when the run has begun as many steps as it may */
  assertRoom(): void {
    if (this.#open.begun > STEPS_MAX) throw runTooLong();
  }

  /**
   * Checks that a container or iteration may begin which surely begins so many steps inside. Steps that
   * have begun there before count once.
   *
   * @throws RunLimitError when the run would reach its limit inside
   */
  assertRoomInside(path: string, count: number): void {
    const begunInside =
      this.#results.inside(path).length + this.#open.countWhere((each) => isInside(each, path));
    if (this.#open.begun - begunInside + count > STEPS_MAX) throw runTooLong();
  }

  /**
   * Checks that the run may hold so many more bytes.
   *
   * @throws RunLimitError when it would hold too much (D56)
   */
  assertFits(bytes: number): void {
    if (this.#results.bytes + bytes > this.#bytesMax) throw runTooLarge(this.#bytesMax);
  }
}
