import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { ConnectionKey } from "../domain/connection-key.ts";

export const CONNECTION_ID_PREFIX = "conn_";

/**
 * The connection that a caller names.
 *
 * @throws AppError NOT_FOUND for a malformed id (D1)
 */
export function requireConnectionKey(
  connectionId: string,
  { identity }: { identity: { companyId: string } },
): ConnectionKey {
  if (!isId(CONNECTION_ID_PREFIX, connectionId)) throw connectionNotFound();
  return { companyId: identity.companyId.toLowerCase(), connectionId };
}

/** The error for a connection that does not exist. */
export function connectionNotFound(): AppError {
  return new AppError("NOT_FOUND", "Connection not found");
}
