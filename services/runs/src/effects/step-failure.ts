import { isAppError } from "@workflow/errors";
import type { ActionFailure } from "@workflow/proto/integrations/v1/actions";
import { Excerpt, StepError } from "../domain/step-error.ts";

/** The recorded length of messages from outside. */
const MESSAGE_CHARS_MAX = 1_200;

/** Makes the failure of a step whose call had no result. */
export type ToUnavailable = (reason: string) => StepError;

/**
 * The reason of the step's failure. A service of another version may give reasons that are not known
 * here.
 */
export function failureOf(
  failure: ActionFailure | undefined,
  toUnavailable: ToUnavailable,
): StepError {
  if (failure === undefined) return toUnavailable("the answer holds nothing");
  const { code, message, retryable, answered, retryAfterMs, detailsJson } = failure;
  return new StepError({ told: code }, message, {
    retryable,
    answered,
    messageCharsMax: MESSAGE_CHARS_MAX,
    details: withExcerpts(parseDetails(detailsJson)),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/**
 * Marks texts from outside among the details. The service has cut them, but does not know the run's
 * secrets.
 */
function withExcerpts(details: Record<string, unknown>): Record<string, unknown> {
  const excerpts = ["message", "code"].flatMap((name) => {
    const words = details[name];
    if (typeof words !== "string") return [];
    return [[name, new Excerpt(words, MESSAGE_CHARS_MAX, { mayBeCut: true })] as const];
  });
  return { ...details, ...Object.fromEntries(excerpts) };
}

/**
 * The answer of a call. A call that broke off may succeed later; our own fault stays one.
 *
 * @throws StepError when the call failed, or the signal's reason when it was aborted
 */
export async function orStepError<Answer>(
  call: Promise<Answer>,
  signal: AbortSignal,
  toUnavailable: ToUnavailable,
): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    // oxlint-disable-next-line typescript/only-throw-error -- the reason is the caller's own
    if (signal.aborted) throw signal.reason;
    if (!isAppError(error)) throw error;
    if (error.reason !== "UNAVAILABLE" && error.reason !== "UPSTREAM_ERROR") throw error;
    throw toUnavailable(error.message);
  }
}

function parseDetails(text: string): Record<string, unknown> {
  const details: unknown = text === "" ? {} : JSON.parse(text);
  return typeof details === "object" && details !== null ? { ...details } : {};
}
