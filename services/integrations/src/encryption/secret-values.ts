import { AppError } from "@workflow/errors";
import type { SecretPlace } from "../domain/secret-place.ts";
import { open, seal, SealBrokenError } from "./sealing.ts";

/** Encrypts a value for its place: it opens nowhere else. */
export function sealValue(companyKey: Buffer, value: string, place: SecretPlace): Buffer {
  return seal(companyKey, Buffer.from(value, "utf8"), contextOf(place));
}

/** Decrypts a value. Throws INTERNAL_ERROR for one that was changed or belongs elsewhere. */
export function openValue(companyKey: Buffer, sealed: Buffer, place: SecretPlace): string {
  try {
    return open(companyKey, sealed, contextOf(place)).toString("utf8");
  } catch (error) {
    if (!(error instanceof SealBrokenError)) throw error;
    throw new AppError("INTERNAL_ERROR", "An internal error occurred.", {
      internal: `the secret ${place.key} of workflow ${place.workflowId} was changed in the database`,
      cause: error,
    });
  }
}

function contextOf({ companyId, workflowId, key }: SecretPlace): string[] {
  return ["secret", companyId, workflowId, key];
}
