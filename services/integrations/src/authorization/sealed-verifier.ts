import type { Database } from "@workflow/db";
import { ensureCompanyKey, openText, sealText, unwrapCompanyKey } from "@workflow/sealing";
import type { KeyRing } from "@workflow/sealing";
import type { AttemptRow } from "../store/authorization-attempts.ts";
import type { NewAttempt } from "../store/open-attempts.ts";

/** Encrypts the proof key of an attempt under its company's key. It can be decrypted for no other attempt. */
export async function sealVerifier(
  { database, ring }: { database: Database; ring: KeyRing },
  { id, companyId }: Pick<AttemptRow, "id" | "companyId">,
  verifier: string,
): Promise<NonNullable<NewAttempt["verifier"]>> {
  const companyKey = await ensureCompanyKey(database, ring, companyId);
  const sealed = sealText(companyKey.key, verifier, contextOf(id, companyId));
  return { companyKeyId: companyKey.id, sealed };
}

/**
 * Decrypts the proof key of an attempt; null without one.
 *
 * @throws as `openCredentials`
 */
export async function openVerifier(ring: KeyRing, attempt: AttemptRow): Promise<string | null> {
  const { id, companyId, sealedVerifier, companyKeyId, kekId, wrappedKey } = attempt;
  if (sealedVerifier === null || companyKeyId === null || kekId === null || wrappedKey === null) {
    return null;
  }
  const key = await unwrapCompanyKey(ring, { id: companyKeyId, companyId, kekId, wrappedKey });
  return openText(key, sealedVerifier, contextOf(id, companyId), `the proof key of attempt ${id}`);
}

function contextOf(id: string, companyId: string): string[] {
  return ["authorization", companyId, id];
}
