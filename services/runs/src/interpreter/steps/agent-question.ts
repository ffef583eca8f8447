import { isJsonObject } from "@workflow/json";
import { z } from "zod";
import { StepError } from "../../domain/step-error.ts";
import { storableJson, storableText } from "../../domain/storable-json.ts";
import type { AgentQuestion, AgentRecord } from "../effects/agent-client.ts";

/** The same limit as the API has for callers (D43). */
const INPUT_BYTES_MAX = 1024 * 1024;
const USER_MESSAGE_CHARS_MAX = 100_000;
const MAX_TOKENS_MAX = 128_000;
/** Our ids are far shorter. The error repeats an unknown id, so its length is limited. */
const AGENT_ID_CHARS_MAX = 200;

const optionalText = z
  .string("must be a text")
  .refine(isMessage, `is longer than ${USER_MESSAGE_CHARS_MAX} characters`)
  .nullish();
const temperature = "must be from 0 to 2";
const agentId = "must be the id of an agent";
const maxTokens = `must be a whole number from 1 to ${MAX_TOKENS_MAX}`;

/** The input is taken as it is: a copy would lose members with unusual names. */
const input = z.unknown().refine(isJsonObject, "must be an object");

// A template whose path does not exist gives null, which counts as not given.
const resolvedQuestion = z.object({
  agentId: z.string(agentId).min(1, agentId).max(AGENT_ID_CHARS_MAX, agentId),
  input,
  userMessage: optionalText,
  overrides: z
    .object(
      {
        temperature: z.number(temperature).min(0, temperature).max(2, temperature).nullish(),
        maxTokens: z.int(maxTokens).min(1, maxTokens).max(MAX_TOKENS_MAX, maxTokens).nullish(),
        model: z.string("must be the name of a model").nullish(),
      },
      "must be an object",
    )
    .nullish(),
});

/**
 * Reads an agent step's resolved config. The integrations service checks whether the agent takes such
 * inputs.
 *
 * @throws StepError INVALID_INPUT naming the fields in `details.problems`
 */
export function readAgentQuestion(resolved: unknown): AgentQuestion {
  const parsed = resolvedQuestion.safeParse(resolved);
  if (!parsed.success) {
    throw invalid(
      parsed.error.issues.map(({ path, message }) => ({ path: path.map(String), message })),
    );
  }
  const { agentId, userMessage, overrides } = parsed.data;
  const text = storableJson(parsed.data.input);
  if (Buffer.byteLength(text) > INPUT_BYTES_MAX) {
    throw invalid([{ path: ["input"], message: "is larger than 1 MiB" }]);
  }
  return {
    agentId,
    input: text,
    userMessage: optionalTextOf(userMessage),
    overrides: {
      temperature: overrides?.temperature ?? undefined,
      maxTokens: overrides?.maxTokens ?? undefined,
      model: overrides?.model ?? undefined,
    },
  };
}

const cleanQuestion = z.object({ input: z.unknown(), userMessage: z.string().nullish() });

/**
 * The recordable form of a resolved config that was read before.
 *
 * @param clean the config without secrets
 */
export function readAgentRecord(clean: unknown): AgentRecord {
  const { input: shown, userMessage } = cleanQuestion.parse(clean);
  return {
    input: storableJson(shown),
    userMessage: optionalTextOf(userMessage),
  };
}

function optionalTextOf(text: string | null | undefined): string | undefined {
  return text === null || text === undefined ? undefined : storableText(text);
}

/** A character may be two units of the text. A text that is far longer need not be counted. */
function isMessage(text: string): boolean {
  if (text.length <= USER_MESSAGE_CHARS_MAX) return true;
  if (text.length > 2 * USER_MESSAGE_CHARS_MAX) return false;
  return Array.from(text).length <= USER_MESSAGE_CHARS_MAX;
}

function invalid(problems: { path: string[]; message: string }[]): StepError {
  const texts = problems.map(({ path, message }) => `${path.join(".")} ${message}`);
  return new StepError("INVALID_INPUT", `The question is not valid: ${texts.join("; ")}.`, {
    retryable: false,
    details: { problems },
  });
}
