import { AppError } from "@workflow/errors";
import { open, seal, SealBrokenError } from "./sealing.ts";

/**
 * Encrypts a text for one place; it opens nowhere else.
 * @param context the place, beginning with its kind; opening needs the same
 */
export function sealText(companyKey: Buffer, text: string, context: readonly string[]): Buffer {
  return seal(companyKey, Buffer.from(text, "utf8"), context);
}

/**
 * Decrypts a text.
 * @param what a name for the text, for the log
 * @throws AppError INTERNAL_ERROR for bytes that were changed or belong elsewhere
 */
export function openText(
  companyKey: Buffer,
  sealed: Buffer,
  context: readonly string[],
  what: string,
): string {
  try {
    return open(companyKey, sealed, context).toString("utf8");
  } catch (error) {
    if (!(error instanceof SealBrokenError)) throw error;
    throw new AppError("INTERNAL_ERROR", "An internal error occurred.", {
      internal: `${what} was changed in the database`,
      cause: error,
    });
  }
}
