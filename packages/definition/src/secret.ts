import { isStorableText } from "@workflow/json";

const KEY_CHARACTERS_MAX = 64;
const VALUE_CHARACTERS_MAX = 8_192;
const KEY = /^[A-Z][A-Z0-9_]*$/;

/**
 * What is wrong with the key of a workflow secret, in words to follow its name; null when it is
 * right: upper snake case that starts with a letter, at most 64 characters.
 */
export function secretKeyProblem(key: unknown): string | null {
  if (typeof key !== "string") return key === undefined ? "is required" : "must be a string";
  if (key.length > KEY_CHARACTERS_MAX) return `must have at most ${KEY_CHARACTERS_MAX} characters`;
  return KEY.test(key) ? null : "must be upper snake case and start with a letter";
}

/**
 * As `secretKeyProblem`, for a secret's value: 1 to 8,192 characters, counted as Unicode code
 * points. The answer never quotes the value.
 */
export function secretValueProblem(value: unknown): string | null {
  if (typeof value !== "string") return value === undefined ? "is required" : "must be a string";
  if (value === "" || isLongerThan(value, VALUE_CHARACTERS_MAX)) {
    return `must have 1 to ${VALUE_CHARACTERS_MAX} characters`;
  }
  return isStorableText(value) ? null : "must not contain NUL or unpaired surrogates";
}

/** Without counting the characters of a text that is far too long. */
function isLongerThan(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false;
  return text.length > 2 * charactersMax || Array.from(text).length > charactersMax;
}
