import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { ConnectionKey } from "../domain/connection-key.ts";

export const CONNECTION_ID_PREFIX = "conn_";

/** The connection that a caller names. An id of the wrong form names none: NOT_FOUND (D1). */
export function requireConnectionKey(
  connectionId: string,
  { identity }: { identity: { companyId: string } },
): ConnectionKey {
  if (!isId(CONNECTION_ID_PREFIX, connectionId)) throw connectionNotFound();
  return { companyId: identity.companyId.toLowerCase(), connectionId };
}

/** The one error for connections that do not exist. */
export function connectionNotFound(): AppError {
  return new AppError("NOT_FOUND", "Connection not found");
}
