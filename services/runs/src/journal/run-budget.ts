import { runTooLarge, runTooLong, STEPS_MAX } from "../domain/run-limits.ts";
import type { OpenSteps } from "./open-steps.ts";
import { isInside } from "./step-results.ts";
import type { StepResults } from "./step-results.ts";

/** What a run may still do, which is looked at before it does it. */
export class RunBudget {
  readonly #results: StepResults;
  readonly #open: OpenSteps;
  readonly #bytesMax: number;

  /** @param bytesMax most that the inputs and outputs of the steps may have together (D56) */
  constructor(results: StepResults, open: OpenSteps, bytesMax: number) {
    this.#results = results;
    this.#open = open;
    this.#bytesMax = bytesMax;
  }

  /** @throws RunLimitError when the run has begun more steps than one may */
  assertRoom(): void {
    if (this.#open.begun > STEPS_MAX) throw runTooLong();
  }

  /**
   * Whether a container, or an iteration, may begin that is sure to begin so many steps inside. Those that
   * have begun there before count once.
   *
   * @throws RunLimitError when it would come to an end in their midst
   */
  assertRoomInside(path: string, count: number): void {
    const begunInside =
      this.#results.inside(path).length + this.#open.countWhere((each) => isInside(each, path));
    if (this.#open.begun - begunInside + count > STEPS_MAX) throw runTooLong();
  }

  /**
   * Whether the run may come to hold so much more.
   *
   * @throws RunLimitError when it would hold too much (D56)
   */
  assertFits(bytes: number): void {
    if (this.#results.bytes + bytes > this.#bytesMax) throw runTooLarge(this.#bytesMax);
  }
}
