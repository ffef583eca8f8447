import { AppError } from "@workflow/errors";
import { isStorableText, parseJsonText } from "@workflow/json";
import { AgentInputError } from "../agents/agent-input-error.ts";
import { toCallError } from "../agents/executions/agent-error.ts";
import { hasAtMost, INPUT_BYTES_MAX, USER_MESSAGE_CHARS_MAX } from "../agents/limits.ts";
import { ModelCallError } from "../agents/models/model-call-error.ts";
import { wrongField } from "./connection-request.ts";

/** The time limit of a question with its repairs. Callers wait a minute longer, see `TokenBudget`. */
export const QUESTION_TIMEOUT_MS = 240_000;

/** The question's texts in a request. */
interface QuestionFields {
  readonly inputJson: string;
  readonly userMessage?: string | undefined;
}

/** The bytes that a request takes of a company's places. The size is checked later. */
export function bytesOf({ inputJson, userMessage = "" }: QuestionFields): number {
  return Math.min(
    Buffer.byteLength(inputJson) + Buffer.byteLength(userMessage),
    INPUT_BYTES_MAX + 4 * USER_MESSAGE_CHARS_MAX,
  );
}

/**
 * Parses and checks a question, as far as possible without the agent.
 *
 * @throws AppError BAD_REQUEST, PAYLOAD_TOO_LARGE
 */
export function parseQuestion({ inputJson, userMessage }: QuestionFields): {
  input: Readonly<Record<string, unknown>>;
  inputJson: string;
  userMessage: string | null;
} {
  if (Buffer.byteLength(inputJson) > INPUT_BYTES_MAX) {
    throw new AppError("PAYLOAD_TOO_LARGE", `input must be at most ${INPUT_BYTES_MAX} bytes.`);
  }
  const parsed = parseJsonText(inputJson, "object");
  if (!parsed.ok) throw wrongField("input", parsed.message);
  if (userMessage !== undefined) {
    requireText("userMessage", userMessage, USER_MESSAGE_CHARS_MAX);
  }
  return {
    input: Object.fromEntries(Object.entries(Object(parsed.value))),
    inputJson,
    userMessage: userMessage === undefined || userMessage === "" ? null : userMessage,
  };
}

/**
 * Checks a text that may be empty.
 *
 * @throws AppError BAD_REQUEST
 */
export function requireText(field: string, text: string, charsMax: number): string {
  if (!hasAtMost(text, charsMax)) {
    throw wrongField(field, `must have at most ${charsMax} characters`);
  }
  if (isStorableText(text)) return text;
  throw wrongField(field, "must not contain NUL or unpaired surrogates");
}

/** The error of a question in the form that its caller gets. */
export function toQuestionError(error: unknown): unknown {
  if (error instanceof AgentInputError) {
    const { violations } = error;
    return new AppError("BAD_REQUEST", error.message, { violations, cause: error });
  }
  return error instanceof ModelCallError ? toCallError(error) : error;
}
