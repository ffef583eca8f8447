import type { FailureCode } from "@workflow/errors";
import { StepError } from "./step-error.ts";

/** A call that must not be repeated was begun, and its outcome is not known. */
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
