import { AppError } from "@workflow/errors";

/** The limit of a company's live connections, pending ones included. */
export const LIVE_CONNECTIONS_MAX = 1_000;
/** The number of ended connections that a company keeps for the record; older ones are deleted. */
export const ENDED_CONNECTIONS_KEPT = 1_000;
export const NAME_CHARS_MAX = 255;
export const METADATA_BYTES_MAX = 16 * 1024;
/** The limit of an API key and of the fields beside it. */
export const KEY_CHARS_MAX = 8_192;
export const FIELD_CHARS_MAX = 255;

/** The time limit of a provider's answer to a login or a verification, for which somebody waits. */
export const CHECK_TIMEOUT_MS = 10_000;

/** The error for a company that has its limit of connections. */
export function tooManyConnections(): AppError {
  return new AppError(
    "BAD_REQUEST",
    `The company has ${LIVE_CONNECTIONS_MAX} connections, which is the most; delete one first.`,
    { details: { limit: "connections", max: LIVE_CONNECTIONS_MAX } },
  );
}
