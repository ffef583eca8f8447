import { invalidRequest } from "@workflow/errors";
import { isStorableText } from "@workflow/json";

const SUMMARY_CHARS_MAX = 10_000;

/**
 * A caller's summary of a change; null when not given.
 *
 * @throws AppError BAD_REQUEST
 */
export function parseChangeSummary(summary: string | undefined): string | null {
  if (summary === undefined) return null;
  const message = !isStorableText(summary)
    ? "must not contain NUL or unpaired surrogates"
    : summary.length > SUMMARY_CHARS_MAX
      ? `must have at most ${SUMMARY_CHARS_MAX} characters`
      : null;
  if (message === null) return summary;
  throw invalidRequest([{ path: ["changeSummary"], message }]);
}
