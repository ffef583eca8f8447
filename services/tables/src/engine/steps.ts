/**
 * Work that can pause between its steps, each of which takes a few milliseconds at most. The data that it works on
 * must not change meanwhile, unless it says so.
 */
export type Steps<Result = void> = Generator<undefined, Result, undefined>;

/** Does all steps at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
