import { createHmac, timingSafeEqual } from "node:crypto";

/** So many signatures of one message are looked at; senders with two active secrets give two. */
const SIGNATURES_MAX = 20;
/** How far a signature's time may be from ours, either way (D40). */
const TOLERANCE_SECONDS = 300;
const UNIX_TIME = /^\d{1,12}$/;

/** Whether the text of a time in Unix seconds is near a moment. */
export function isTimely(seconds: string, now: Date): boolean {
  if (!UNIX_TIME.test(seconds)) return false;
  return Math.abs(Number(seconds) - now.getTime() / 1000) <= TOLERANCE_SECONDS;
}

/**
 * Whether one of the signatures is the HMAC-SHA256 of the parts under one of the keys. What that takes does
 * not tell how much of a wrong one is right; of many signatures the first 20 are looked at.
 */
export function isSigned(
  parts: readonly (string | Buffer)[],
  keys: readonly Buffer[],
  signatures: readonly Buffer[],
): boolean {
  const looked = signatures.slice(0, SIGNATURES_MAX);
  let matches = false;
  for (const key of keys) {
    const hmac = createHmac("sha256", key);
    for (const part of parts) hmac.update(part);
    const right = hmac.digest();
    for (const signature of looked) {
      if (signature.length === right.length && timingSafeEqual(signature, right)) matches = true;
    }
  }
  return matches;
}
