import { hash, randomInt } from "node:crypto";

const PREFIX = "wfk_";
const RANDOM_LENGTH = 32;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const PATTERN = /^wfk_[A-Za-z0-9]{32}$/;
const SHOWN_LENGTH = 12;

/** A new key: `wfk_` and 32 random letters and digits. */
export function generateApiKey(): string {
  let key = PREFIX;
  for (let index = 0; index < RANDOM_LENGTH; index += 1) {
    // randomInt is free of modulo bias, which a remainder of a random byte is not.
    key += ALPHABET.charAt(randomInt(ALPHABET.length));
  }
  return key;
}

/** Whether a text could be a key at all; anything else is refused without asking the database. */
export function looksLikeApiKey(text: string): boolean {
  return PATTERN.test(text);
}

/** SHA-256 of a key: the only form of it that is stored or kept in memory (D12). */
export function hashApiKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** The beginning of a key, for people to tell keys apart. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, SHOWN_LENGTH);
}
