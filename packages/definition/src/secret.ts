import { isStorableText } from "@workflow/json";

const KEY_CHARACTERS_MAX = 64;
const VALUE_CHARACTERS_MAX = 8_192;
const KEY = /^[A-Z][A-Z0-9_]*$/;

/**
 * The problem of a workflow secret's key, in words that follow its name; null for a valid key. A key is upper
 * snake case, starts with a letter and has at most 64 characters.
 */
export function secretKeyProblem(key: unknown): string | null {
  if (typeof key !== "string") return key === undefined ? "is required" : "must be a string";
  if (key.length > KEY_CHARACTERS_MAX) return `must have at most ${KEY_CHARACTERS_MAX} characters`;
  return KEY.test(key) ? null : "must be upper snake case and start with a letter";
}

/**
 * The problem of a secret's value, as `secretKeyProblem` gives it. A value has 1 to 8,192 characters, counted
 * as Unicode code points. The answer never quotes the value.
 */
export function secretValueProblem(value: unknown): string | null {
  if (typeof value !== "string") return value === undefined ? "is required" : "must be a string";
  if (value === "" || isLongerThan(value, VALUE_CHARACTERS_MAX)) {
    return `must have 1 to ${VALUE_CHARACTERS_MAX} characters`;
  }
  return isStorableText(value) ? null : "must not contain NUL or unpaired surrogates";
}

/** Stops early, so that a far too long text is not counted. */
function isLongerThan(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false;
  return text.length > 2 * charactersMax || Array.from(text).length > charactersMax;
}
