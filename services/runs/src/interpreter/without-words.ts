import { StepError } from "../domain/step-error.ts";

/** What is said then holds nothing of the call. */
const WORDS_OF_OURS: ReadonlySet<string> = new Set([
  "NOT_CONFIGURED",
  "EMAIL_QUOTA",
  "SECRET_HOST_NOT_ALLOWED",
]);

/**
 * The same failure without the words of those outside, which may repeat a secret in a form that nobody
 * can look for. Anything else is returned as it is.
 */
export function withoutWords(error: unknown): unknown {
  if (!(error instanceof StepError) || WORDS_OF_OURS.has(error.code)) return error;
  const { code, retryable, answered, retryAfterMs, details } = error;
  const message = `The call failed (${code}); what was said of it is left out, since a secret went into it.`;
  const status = details?.["status"];
  return new StepError(code, message, {
    retryable,
    answered,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === undefined ? {} : { details: { status } }),
  });
}
