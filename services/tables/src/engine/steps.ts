/**
 * Work that can be left alone between its steps, each of which takes a few milliseconds at the most. What it
 * works on must not change meanwhile, unless it says so.
 */
export type Steps<Result = void> = Generator<undefined, Result, undefined>;

/** Does all of it at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
