import { TemplateError } from "@workflow/definition";
import { ExpressionError } from "@workflow/expressions";
import { StepError } from "../domain/step-error.ts";
import { DeadlineExceeded } from "./control-flow-signals.ts";

/** The recorded length of an expression's error message, which may quote values. */
const EXPRESSION_MESSAGE_CHARS_MAX = 600;

/** Turns what an attempt threw into the step's failure. Our own faults are thrown on. */
export function toStepError(thrown: unknown): StepError {
  if (thrown instanceof StepError) return thrown;
  if (thrown instanceof DeadlineExceeded) return new StepError("TIMEOUT", thrown.message);
  // The same template or expression would give the same error next time.
  if (thrown instanceof TemplateError) {
    return new StepError(thrown.code, thrown.message, { retryable: false });
  }
  if (thrown instanceof ExpressionError) {
    return new StepError(thrown.code, thrown.message, {
      retryable: thrown.retryable,
      messageCharsMax: EXPRESSION_MESSAGE_CHARS_MAX,
    });
  }
  throw thrown;
}
