import { createHash } from "node:crypto";

const KEY_CHARS_MAX = 500;

/**
 * An idempotency key in the length that other services accept. The path of a deeply nested step may be
 * longer.
 */
export function boundedKey(key: string): string {
  if (key.length <= KEY_CHARS_MAX) return key;
  return createHash("sha256").update(key).digest("hex");
}
