import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { ensureCompanyKey, unwrapCompanyKey } from "../encryption/company-keys.ts";
import type { KeyRing } from "../encryption/key-ring.ts";
import { open, seal, SealBrokenError } from "../encryption/sealing.ts";
import type { AttemptRow } from "../store/authorization-attempts.ts";
import type { NewAttempt } from "../store/open-attempts.ts";

/** Encrypts the proof key of an attempt under its company's key: it opens nowhere else. */
export async function sealVerifier(
  { database, ring }: { database: Database; ring: KeyRing },
  { id, companyId }: Pick<AttemptRow, "id" | "companyId">,
  verifier: string,
): Promise<NonNullable<NewAttempt["verifier"]>> {
  const companyKey = await ensureCompanyKey(database, ring, companyId);
  const sealed = seal(companyKey.key, Buffer.from(verifier, "utf8"), contextOf(id, companyId));
  return { companyKeyId: companyKey.id, sealed };
}

/** Decrypts the proof key of an attempt; null where it has none. Throws as `openCredentials` does. */
export async function openVerifier(ring: KeyRing, attempt: AttemptRow): Promise<string | null> {
  const { id, companyId, sealedVerifier, companyKeyId, kekId, wrappedKey } = attempt;
  if (sealedVerifier === null || companyKeyId === null || kekId === null || wrappedKey === null) {
    return null;
  }
  const key = await unwrapCompanyKey(ring, { id: companyKeyId, companyId, kekId, wrappedKey });
  try {
    return open(key, sealedVerifier, contextOf(id, companyId)).toString("utf8");
  } catch (error) {
    if (!(error instanceof SealBrokenError)) throw error;
    throw new AppError("INTERNAL_ERROR", "An internal error occurred.", {
      internal: `the proof key of attempt ${id} was changed in the database`,
      cause: error,
    });
  }
}

function contextOf(id: string, companyId: string): string[] {
  return ["authorization", companyId, id];
}
