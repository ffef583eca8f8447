import { StepError } from "../domain/step-error.ts";

/** Codes whose messages are our own and hold nothing of the call. */
const WORDS_OF_OURS: ReadonlySet<string> = new Set([
  "NOT_CONFIGURED",
  "AGENT_NOT_FOUND",
  "AGENT_DEPRECATED",
  "AGENT_QUOTA",
  "EMAIL_QUOTA",
  "SECRET_HOST_NOT_ALLOWED",
]);

/**
 * The same failure without texts from outside, which may repeat a secret in a form that the scrubber
 * cannot find. Anything else is returned as it is.
 */
export function withoutWords(error: unknown): unknown {
  if (!(error instanceof StepError)) return error;
  const { code, retryable, answered, retryAfterMs, details } = error;
  const isOurs = WORDS_OF_OURS.has(code);
  // An unknown id may be the secret itself.
  if (isOurs && details?.["agentId"] === undefined) return error;
  const message = isOurs
    ? error.message
    : `The call failed (${code}); what was said of it is left out, since a secret went into it.`;
  const ours = ["status", "executionId"].flatMap((name) => {
    const value = details?.[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return new StepError({ told: code }, message, {
    retryable,
    answered,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(ours.length === 0 ? {} : { details: Object.fromEntries(ours) }),
  });
}
