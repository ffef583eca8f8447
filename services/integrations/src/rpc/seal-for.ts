import { ensureCompanyKey } from "@workflow/sealing";
import type { ServiceContext } from "../context.ts";
import { maskedValue } from "../domain/masked-value.ts";
import type { SecretPlace } from "../domain/secret-place.ts";
import { sealValue } from "../encryption/secret-values.ts";
import type { SealedSecret } from "../store/secrets.ts";

/** Encrypts a value for its place under the company's key. */
export async function sealFor(
  { database, ring }: ServiceContext,
  place: SecretPlace,
  value: string,
): Promise<SealedSecret> {
  const { id, key } = await ensureCompanyKey(database, ring, place.companyId);
  return {
    companyKeyId: id,
    sealedValue: sealValue(key, value, place),
    maskedValue: maskedValue(value),
  };
}
