import type { Credentials } from "@workflow/catalog";
import type { Database } from "@workflow/db";
import { ensureCompanyKey, openText, sealText, unwrapCompanyKey } from "@workflow/sealing";
import type { KeyRing, WrappedKey } from "@workflow/sealing";
import { z } from "zod";
import type { ConnectionKey } from "../domain/connection-key.ts";

/** Encrypted credentials of a connection, and the company's key that encrypts them. */
export interface SealedCredentials {
  companyKeyId: string;
  sealed: Buffer;
}

const credentialsSchema = z.record(z.string(), z.string());

/**
 * Encrypts the credentials of a connection under its company's key. They can be decrypted for no other
 * connection.
 */
export async function sealCredentials(
  { database, ring }: { database: Database; ring: KeyRing },
  connection: ConnectionKey,
  credentials: Credentials,
): Promise<SealedCredentials> {
  const { id, key } = await ensureCompanyKey(database, ring, connection.companyId);
  const sealed = sealText(key, JSON.stringify(credentials), contextOf(connection));
  return { companyKeyId: id, sealed };
}

/**
 * Decrypts the credentials of a connection.
 *
 * @throws AppError INTERNAL_ERROR for bytes that were changed or belong elsewhere; UNAVAILABLE when
 * SECRETS_KEK lacks the key that wrapped the company's
 */
export async function openCredentials(
  ring: KeyRing,
  connection: ConnectionKey,
  { sealed, wrappedKey }: { sealed: Buffer; wrappedKey: WrappedKey },
): Promise<Credentials> {
  const key = await unwrapCompanyKey(ring, wrappedKey);
  const what = `the credentials of ${connection.connectionId}`;
  return credentialsSchema.parse(JSON.parse(openText(key, sealed, contextOf(connection), what)));
}

function contextOf({ companyId, connectionId }: ConnectionKey): string[] {
  return ["connection", companyId, connectionId];
}
