import { createHmac, timingSafeEqual } from "node:crypto";

/** The tolerated difference between a sender's clock and ours, in milliseconds. */
const TOLERANCE_MS = 300_000;

const SHA256_HEX = /^[0-9a-f]{64}$/i;
const SHA256_BASE64 = /^[A-Za-z0-9+/]{43}=$/;
const DIGITS = /^\d{1,16}$/;

/**
 * Whether one of the signatures is the HMAC-SHA256 of the parts under one of the secrets. Each pair is compared,
 * in constant time.
 *
 * @param signatures of 32 bytes each
 */
export function isSigned(
  secrets: readonly (string | Buffer)[],
  parts: readonly (string | Buffer)[],
  signatures: readonly Buffer[],
): boolean {
  let matches = 0;
  for (const secret of secrets) {
    const hmac = createHmac("sha256", secret);
    for (const part of parts) hmac.update(part);
    const expected = hmac.digest();
    for (const signature of signatures) {
      matches += timingSafeEqual(expected, signature) ? 1 : 0;
    }
  }
  return matches > 0;
}

/** The bytes of a SHA-256 in hexadecimal digits; null for any other text. */
export function parseHexDigest(text: string): Buffer | null {
  return SHA256_HEX.test(text) ? Buffer.from(text, "hex") : null;
}

/** The bytes of a SHA-256 in base64; null for any other text. */
export function parseBase64Digest(text: string): Buffer | null {
  return SHA256_BASE64.test(text) ? Buffer.from(text, "base64") : null;
}

/** Whether a sender's Unix time, in digits, is within the tolerance. */
export function isTimely(
  timestamp: string,
  receivedAt: Date,
  unit: "seconds" | "milliseconds",
): boolean {
  if (!DIGITS.test(timestamp)) return false;
  const sentMs = Number(timestamp) * (unit === "seconds" ? 1_000 : 1);
  return Math.abs(receivedAt.getTime() - sentMs) <= TOLERANCE_MS;
}
