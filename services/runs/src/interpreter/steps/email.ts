import { evaluate } from "@workflow/definition";
import type { CompiledEmailStep } from "@workflow/definition";
import { readEmailMessage } from "../../email/email-message.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { StepError } from "../step-error.ts";
import { withoutWords } from "../without-words.ts";
import { completionOf } from "../step-output.ts";

/** Sends a message (D17). */
export async function executeEmail(
  execution: Execution,
  step: CompiledEmailStep,
  { key, showInput }: Attempt,
): Promise<StepOutcome> {
  const message = evaluate(step.message, execution.scope);
  showInput(storableJson(message.masked));
  if (step.connectionId !== undefined) {
    const reason = "E-mail through a connection is not available in this installation.";
    throw new StepError("NOT_CONFIGURED", reason, { retryable: false });
  }
  execution.journal.markStarted();
  const { email } = execution.effects;
  const { companyId } = execution.facts;
  const sent = email
    .send(companyId, readEmailMessage(message.value), key, execution.signal)
    .catch((error: unknown) => {
      // Mail servers quote messages in encodings of their own.
      throw message.masked === message.value ? error : withoutWords(error);
    });
  return completionOf(execution, await sent, true);
}
