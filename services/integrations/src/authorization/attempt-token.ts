import { createHash, randomBytes } from "node:crypto";

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** A token that nobody can guess: the right to go on with one attempt. */
export function newAttemptToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** What of a token is stored; null for a text that is none. */
export function hashAttemptToken(token: string): Buffer | null {
  return TOKEN.test(token) ? createHash("sha256").update(token).digest() : null;
}
