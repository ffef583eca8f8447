import type { FailureCode } from "@workflow/errors";

/** The failure of a step; the codes are those of steps (docs/errors.md). */
export interface StepFailure {
  code: FailureCode;
  /** The failure in words for people. */
  message: string;
  details: Readonly<Record<string, unknown>>;
  /** Whether another attempt may succeed; false by default. */
  retryable?: boolean | undefined;
  /** Whether the provider has answered, so that another attempt is a new request. */
  answered?: boolean | undefined;
  retryAfterMs?: number | undefined;
}

/** Ends the work on a step. The step's RPC catches it and answers with the failure. */
export class StepFailureError extends Error {
  override readonly name = "StepFailureError";
  readonly failure: StepFailure;

  constructor(failure: StepFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The limit of problems in one failure: a long list may have one for each item, and nobody reads them all. */
const PROBLEMS_TOLD = 20;

/** The failure for wrong inputs, at their paths within the step's config. */
export function invalidInput(
  problems: readonly { path: readonly string[]; message: string }[],
): StepFailureError {
  const told = problems.slice(0, PROBLEMS_TOLD);
  const texts = told.map(({ path, message }) => `${path.join(".")} ${message}`);
  if (problems.length > told.length) texts.push("and more");
  return new StepFailureError({
    code: "INVALID_INPUT",
    message: `The action's inputs are not valid: ${texts.join("; ")}.`,
    details: { problems: told },
  });
}
