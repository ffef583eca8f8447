import type { FailureCode } from "@workflow/errors";
import { StepError } from "./step-error.ts";

/** A call was begun that must not be made twice, and nobody knows what became of it. */
export class UnknownOutcomeError extends StepError {
  constructor(code: FailureCode, message: string, details: Record<string, unknown>) {
    super(
      code,
      `${message} Nobody knows whether the call was carried out, so it is not made again.`,
      {
        retryable: false,
        details: { ...details, outcomeUnknown: true },
      },
    );
  }
}
