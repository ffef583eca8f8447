import { createHash, randomBytes } from "node:crypto";

const TOKEN_BYTES = 32;
const PATTERN = /^[A-Za-z0-9_-]{43}$/;

/** A new token of a session: 256 random bits, base64url. */
export function generateSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** Whether a text could be a token at all; anything else is refused without asking the database. */
export function looksLikeSessionToken(text: string): boolean {
  return PATTERN.test(text);
}

/** SHA-256 of a token: the only form of it that is stored or kept in memory. */
export function hashSessionToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
