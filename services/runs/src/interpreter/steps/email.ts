import { evaluate } from "@workflow/definition";
import type { CompiledEmailStep, EvaluatedValue } from "@workflow/definition";
import type { OpenStep } from "../../domain/step-records.ts";
import { storableJson } from "../../domain/storable-json.ts";
import { carriesSecret } from "../carries-secret.ts";
import type { EmailOutcome } from "../effects/email-client.ts";
import type { NamedConnections } from "../effects/provider-client.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { callInTurn } from "../in-turn.ts";
import { completionOf } from "../step-output.ts";
import { withoutWords } from "../without-words.ts";
import {
  contentCharsOf,
  readAttachments,
  resolveAttachments,
  withoutContent,
} from "./email-attachments.ts";
import { readEmailMessage } from "./email-message.ts";
import { connectionsOf } from "./provider-action.ts";

/** Sends a message (D17). */
export async function executeEmail(
  execution: Execution,
  step: CompiledEmailStep,
  open: OpenStep,
  { key, showInput }: Attempt,
): Promise<StepOutcome> {
  const attachments = resolveAttachments(execution.scope, step.attachments);
  const shown = shownInput(evaluate(step.message, execution.scope), attachments);
  const named = connectionsOf(execution, step.connectionId);
  showInput(storableJson(shown.masked));
  execution.journal.markStarted();
  const sent = withMemory(execution, contentCharsOf(attachments.value), () =>
    send(execution, open, { message: shown.value, attachments: attachments.value, named, key }),
  ).catch((error: unknown) => {
    // Mail servers quote messages in encodings of their own.
    throw carriesSecret(execution, shown) ? withoutWords(error) : error;
  });
  return completionOf(execution, await sent, true);
}

async function send(
  execution: Execution,
  open: OpenStep,
  given: { message: unknown; attachments: unknown; named: NamedConnections; key: string },
): Promise<EmailOutcome> {
  const { effects, facts, signal } = execution;
  const { named, key } = given;
  const letter = {
    ...readEmailMessage(given.message),
    attachments: readAttachments(given.attachments),
    named,
  };
  return callInTurn(execution, open, (hasTurn) =>
    effects.email.send(facts.companyId, letter, { key, hasTurn }, signal),
  );
}

/** The config as its record shows it. What files hold is in another step's output, or in the definition. */
function shownInput(message: EvaluatedValue, attachments: EvaluatedValue): EvaluatedValue {
  if (attachments.value === undefined) return message;
  const value = { ...Object(message.value), attachments: withoutContent(attachments.value) };
  if (message.masked === message.value && attachments.masked === attachments.value) {
    return { value, masked: value };
  }
  const masked = { ...Object(message.masked), attachments: withoutContent(attachments.masked) };
  return { value, masked };
}

/** Decodes and sends files once the worker has memory for them; they are held until they are sent. */
async function withMemory<Result>(
  { memory, signal }: Execution,
  bytes: number,
  work: () => Promise<Result>,
): Promise<Result> {
  if (bytes === 0) return work();
  await memory.reserve(bytes, signal);
  try {
    return await work();
  } finally {
    memory.shrink(bytes);
  }
}
