import { AppError } from "@workflow/errors";

/** Connections of a company that are live, pending ones included. */
export const LIVE_CONNECTIONS_MAX = 1_000;
/** Ended ones that are kept for the record; older ones go. */
export const ENDED_CONNECTIONS_KEPT = 1_000;
export const NAME_CHARS_MAX = 255;
export const METADATA_BYTES_MAX = 16 * 1024;
/** Of an API key and of what belongs to it. */
export const KEY_CHARS_MAX = 8_192;
export const FIELD_CHARS_MAX = 255;

/** Of a provider's answer to a login or a verification: somebody waits for it. */
export const CHECK_TIMEOUT_MS = 10_000;

/** The answer when a company has as many connections as it may have. */
export function tooManyConnections(): AppError {
  return new AppError(
    "BAD_REQUEST",
    `The company has ${LIVE_CONNECTIONS_MAX} connections, which is the most; delete one first.`,
    { details: { limit: "connections", max: LIVE_CONNECTIONS_MAX } },
  );
}
