/** Longer waits count as a day: a time far ahead is a mistake, and dates have a limit. */
const RETRY_AFTER_MS_MAX = 24 * 60 * 60 * 1000;

/**
 * The pause that an answer asks for, in milliseconds: OpenAI's `retry-after-ms`, else `retry-after` in
 * seconds or as an HTTP date (RFC 9110, section 10.2.3). Undefined without either.
 */
export function readRetryAfter(
  headers: Readonly<Record<string, string | readonly string[]>>,
): number | undefined {
  const exact = toNumber(headers["retry-after-ms"]);
  const seconds = toNumber(headers["retry-after"]);
  const date = headers["retry-after"];
  const waitMs =
    exact ??
    (seconds === undefined
      ? Date.parse(typeof date === "string" ? date : "") - Date.now()
      : seconds * 1000);
  return Number.isFinite(waitMs)
    ? Math.min(Math.max(Math.ceil(waitMs), 0), RETRY_AFTER_MS_MAX)
    : undefined;
}

function toNumber(value: string | readonly string[] | undefined): number | undefined {
  return typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
}
