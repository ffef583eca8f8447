import type { Credentials } from "@workflow/catalog";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import type { ConnectionKey } from "../connections/connection-key.ts";
import type { WrappedKey } from "../store/company-keys.ts";
import { ensureCompanyKey, unwrapCompanyKey } from "./company-keys.ts";
import type { KeyRing } from "./key-ring.ts";
import { open, seal, SealBrokenError } from "./sealing.ts";

/** Credentials that were encrypted for their connection, and with which of the company's keys. */
export interface SealedCredentials {
  companyKeyId: string;
  sealed: Buffer;
}

const credentialsSchema = z.record(z.string(), z.string());

/** Encrypts the credentials of a connection under its company's key: they open nowhere else. */
export async function sealCredentials(
  { database, ring }: { database: Database; ring: KeyRing },
  connection: ConnectionKey,
  credentials: Credentials,
): Promise<SealedCredentials> {
  const { id, key } = await ensureCompanyKey(database, ring, connection.companyId);
  const plain = Buffer.from(JSON.stringify(credentials), "utf8");
  return { companyKeyId: id, sealed: seal(key, plain, contextOf(connection)) };
}

/**
 * Decrypts the credentials of a connection.
 *
 * @throws AppError INTERNAL_ERROR for bytes that were changed or belong elsewhere, UNAVAILABLE when
 * SECRETS_KEK lacks the key that wrapped the company's
 */
export async function openCredentials(
  ring: KeyRing,
  connection: ConnectionKey,
  { sealed, wrappedKey }: { sealed: Buffer; wrappedKey: WrappedKey },
): Promise<Credentials> {
  const key = await unwrapCompanyKey(ring, wrappedKey);
  try {
    const plain = open(key, sealed, contextOf(connection)).toString("utf8");
    return credentialsSchema.parse(JSON.parse(plain));
  } catch (error) {
    if (!(error instanceof SealBrokenError)) throw error;
    throw new AppError("INTERNAL_ERROR", "An internal error occurred.", {
      internal: `the credentials of ${connection.connectionId} were changed in the database`,
      cause: error,
    });
  }
}

function contextOf({ companyId, connectionId }: ConnectionKey): string[] {
  return ["connection", companyId, connectionId];
}
