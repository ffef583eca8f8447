import { TemplateError } from "@workflow/definition";
import { ExpressionError } from "../expressions/expression-pool.ts";
import { StepError } from "./step-error.ts";
import { DeadlineExceeded } from "./unwinding.ts";

/** Turns what an attempt threw into the step's failure; a fault of ours is thrown on. */
export function toStepError(thrown: unknown): StepError {
  if (thrown instanceof StepError) return thrown;
  if (thrown instanceof DeadlineExceeded) return new StepError("TIMEOUT", thrown.message);
  // The same template and expression give the same error next time.
  if (thrown instanceof TemplateError) {
    return new StepError(thrown.code, thrown.message, { retryable: false });
  }
  if (thrown instanceof ExpressionError) {
    return new StepError(thrown.code, thrown.message, { retryable: false });
  }
  throw thrown;
}
