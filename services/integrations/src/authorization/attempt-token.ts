import { createHash, randomBytes } from "node:crypto";

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** A random token that gives its holder the right to continue one attempt. */
export function newAttemptToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** The stored hash of a token; null for a text that is no token. */
export function hashAttemptToken(token: string): Buffer | null {
  return TOKEN.test(token) ? createHash("sha256").update(token).digest() : null;
}
