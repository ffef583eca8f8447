import { AppError } from "@workflow/errors";

/** Active agents of a company. */
export const ACTIVE_AGENTS_MAX = 1_000;
/** Deprecated ones that are kept for the record; those deprecated before them go. */
export const DEPRECATED_AGENTS_KEPT = 1_000;
export const NAME_CHARS_MAX = 255;
export const DESCRIPTION_CHARS_MAX = 2_000;
export const SYSTEM_PROMPT_CHARS_MAX = 100_000;
export const OUTPUT_SCHEMA_BYTES_MAX = 64 * 1024;
export const TEMPERATURE_MAX = 2;
export const MAX_TOKENS_MAX = 128_000;
/** Of the input of one question. */
export const INPUT_BYTES_MAX = 1024 * 1024;
export const USER_MESSAGE_CHARS_MAX = 100_000;

/** The answer when a company has as many agents as it may have. */
export function tooManyAgents(): AppError {
  return new AppError(
    "BAD_REQUEST",
    `The company has ${ACTIVE_AGENTS_MAX} agents, which is the most; delete one first.`,
    { details: { limit: "agents", max: ACTIVE_AGENTS_MAX } },
  );
}

/** Whether a text has no more characters; one may be two units of a text, as emoji are. */
export function hasAtMost(text: string, charsMax: number): boolean {
  if (text.length <= charsMax) return true;
  // What is far longer need not be taken apart.
  return text.length <= 2 * charsMax && Array.from(text).length <= charsMax;
}
