import { evaluate } from "@workflow/definition";
import type { CompiledEmailStep, EvaluatedValue } from "@workflow/definition";
import { StepError } from "../../domain/step-error.ts";
import type { OpenStep } from "../../domain/step-records.ts";
import { carriesSecret } from "../carries-secret.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { sendInputs } from "../send-inputs.ts";
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
  attempt: Attempt,
): Promise<StepOutcome> {
  const { effects, facts, journal, signal } = execution;
  const named = connectionsOf(execution, step.connectionId);
  const resolve = (): ResolvedMessage => resolveMessage(execution, step);
  const send = async (resolved: ResolvedMessage, hasTurn: boolean) => {
    const { attachments, inputs } = resolved;
    journal.markStarted();
    return withMemory(execution, contentCharsOf(attachments), () => {
      const letter = {
        ...readEmailMessage(inputs.value),
        attachments: readAttachments(attachments),
        named,
      };
      return effects.email.send(facts, letter, { key: attempt.key, hasTurn }, signal);
    });
  };
  const sending = sendInputs(execution, open, attempt, { resolve, send });
  const sent = sending.catch((error: unknown) => {
    // Mail servers quote messages in encodings of their own.
    const mayQuote = error instanceof StepError && carriesSecret(execution, resolve().inputs);
    throw mayQuote ? withoutWords(error) : error;
  });
  return completionOf(execution, await sent, true);
}

interface ResolvedMessage {
  /** The inputs without the contents of files. */
  inputs: EvaluatedValue;
  attachments: unknown;
}

function resolveMessage({ scope }: Execution, step: CompiledEmailStep): ResolvedMessage {
  const attachments = resolveAttachments(scope, step.attachments);
  const inputs = shownInput(evaluate(step.message, scope), attachments);
  return { inputs, attachments: attachments.value };
}

/**
 * The config as its record shows it. The contents of files are in another step's output, or in the
 * definition.
 */
function shownInput(message: EvaluatedValue, attachments: EvaluatedValue): EvaluatedValue {
  if (attachments.value === undefined) return message;
  const value = { ...Object(message.value), attachments: withoutContent(attachments.value) };
  if (message.masked === message.value && attachments.masked === attachments.value) {
    return { value, masked: value };
  }
  const masked = { ...Object(message.masked), attachments: withoutContent(attachments.masked) };
  return { value, masked };
}

/** Decodes and sends files once the worker has memory for them. They are held until they are sent. */
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
