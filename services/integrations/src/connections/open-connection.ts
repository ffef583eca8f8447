import type { ConnectionAccess } from "@workflow/catalog";
import type { Database } from "@workflow/db";
import type { KeyRing } from "@workflow/sealing";
import { openCredentials } from "../encryption/sealed-credentials.ts";
import { findSealedConnection } from "../store/connection-access.ts";
import { connectionNotFound } from "./connection-key.ts";
import type { ConnectionKey } from "../domain/connection-key.ts";
import type { ConnectionStatus } from "../domain/connection-states.ts";

/** A connection with its credentials in plain text. It must never be stored, logged or sent to a caller. */
export interface OpenConnection extends ConnectionAccess, ConnectionKey {
  provider: string;
  name: string;
  /**
   * The status. Every user must check it: the credentials of a connection that is not active may be
   * missing or wrong.
   */
  status: ConnectionStatus;
  /** The reason why the connection is not active, for people. */
  errorMessage: string | null;
  /** A counter that grows with each change of the credentials or fields. */
  version: number;
  /** The time when the credentials were stored; null without any. */
  changedAt: Date | null;
  /** The end of the access token; null when unknown. */
  expiresAt: Date | null;
  brokerConnectionId: string | null;
  externalAccountId: string | null;
}

/**
 * Reads a connection and decrypts its credentials, as they are stored.
 *
 * @throws AppError NOT_FOUND
 */
export async function openConnection(
  { database, ring }: { database: Database; ring: KeyRing },
  { companyId, connectionId }: ConnectionKey,
): Promise<OpenConnection> {
  const key = { companyId, connectionId };
  const row = await findSealedConnection(database, key);
  if (row === null) throw connectionNotFound();
  const { sealedCredentials: sealed, companyKeyId, kekId, wrappedKey } = row;
  const credentials =
    sealed === null || companyKeyId === null || kekId === null || wrappedKey === null
      ? {}
      : await openCredentials(ring, key, {
          sealed,
          wrappedKey: { id: companyKeyId, companyId: key.companyId, kekId, wrappedKey },
        });
  return {
    ...key,
    provider: row.provider,
    name: row.name,
    status: row.status,
    errorMessage: row.errorMessage,
    fields: row.fields,
    credentials,
    version: row.credentialsVersion,
    changedAt: row.credentialsChangedAt,
    expiresAt: row.credentialsExpireAt,
    brokerConnectionId: row.brokerConnectionId,
    externalAccountId: row.externalAccountId,
  };
}
