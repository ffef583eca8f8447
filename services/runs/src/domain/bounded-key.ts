import { createHash } from "node:crypto";

const KEY_CHARS_MAX = 500;

/** An idempotency key as other services take it: the path of a step in many others may be longer. */
export function boundedKey(key: string): string {
  if (key.length <= KEY_CHARS_MAX) return key;
  return createHash("sha256").update(key).digest("hex");
}
