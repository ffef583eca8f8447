import { AppError } from "@workflow/errors";

/** The limit of a company's active agents. */
export const ACTIVE_AGENTS_MAX = 1_000;
/** The number of deprecated agents that a company keeps for the record; older ones are deleted. */
export const DEPRECATED_AGENTS_KEPT = 1_000;
export const NAME_CHARS_MAX = 255;
export const DESCRIPTION_CHARS_MAX = 2_000;
export const SYSTEM_PROMPT_CHARS_MAX = 100_000;
export const OUTPUT_SCHEMA_BYTES_MAX = 64 * 1024;
export const TEMPERATURE_MAX = 2;
export const MAX_TOKENS_MAX = 128_000;
/** The limit of one question's input. */
export const INPUT_BYTES_MAX = 1024 * 1024;
export const USER_MESSAGE_CHARS_MAX = 100_000;

/** The error for a company that has reached its limit of agents. */
export function tooManyAgents(): AppError {
  return new AppError(
    "BAD_REQUEST",
    `The company has ${ACTIVE_AGENTS_MAX} agents, which is the most; delete one first.`,
    { details: { limit: "agents", max: ACTIVE_AGENTS_MAX } },
  );
}

/** Whether a text has at most so many characters. A character such as an emoji may take two UTF-16 units. */
export function hasAtMost(text: string, charsMax: number): boolean {
  if (text.length <= charsMax) return true;
  // A text of more than twice the units needs no counting.
  return text.length <= 2 * charsMax && Array.from(text).length <= charsMax;
}
