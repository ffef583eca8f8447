import { isStorableText } from "@workflow/json";

/**
 * The path of the first string or key in a JSON value that cannot be stored, or null. The value
 * must not be nested deeply.
 */
export function findUnstorableText(value: unknown): string[] | null {
  if (typeof value === "string") return isStorableText(value) ? null : [];
  if (typeof value !== "object" || value === null) return null;
  for (const [key, item] of Object.entries(value)) {
    if (!isStorableText(key)) return [key.toWellFormed().replaceAll("\0", "\ufffd")];
    const rest = findUnstorableText(item);
    if (rest !== null) return [key, ...rest];
  }
  return null;
}
