import { openText, sealText } from "@workflow/sealing";
import type { SecretPlace } from "../domain/secret-place.ts";

/** Encrypts a value for its place. It can be decrypted for no other place. */
export function sealValue(companyKey: Buffer, value: string, place: SecretPlace): Buffer {
  return sealText(companyKey, value, contextOf(place));
}

/**
 * Decrypts a value.
 *
 * @throws AppError INTERNAL_ERROR for a value that was changed or belongs elsewhere
 */
export function openValue(companyKey: Buffer, sealed: Buffer, place: SecretPlace): string {
  const what = `the secret ${place.key} of workflow ${place.workflowId}`;
  return openText(companyKey, sealed, contextOf(place), what);
}

function contextOf({ companyId, workflowId, key }: SecretPlace): string[] {
  return ["secret", companyId, workflowId, key];
}
