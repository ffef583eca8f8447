/** The number of containers that may be nested in one JSON text (D2). */
export const NESTING_MAX = 64;

/** A parsed JSON text, or the fault in words for the caller. */
export type JsonTextResult = { ok: true; value: unknown } | { ok: false; message: string };

/**
 * Parses a JSON text that must hold an object, an array or any value. Postgres must be able to store
 * it: at most 64 nested containers, no NUL and no lone surrogate in any string or key (D2).
 */
export function parseJsonText(text: string, kind: "object" | "array" | "any"): JsonTextResult {
  if (!isStorableText(text)) return refused("must not contain NUL or unpaired surrogates");
  if (nestingOf(text) > NESTING_MAX) {
    return refused(`must not nest more than ${NESTING_MAX} arrays and objects`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused("is not valid JSON");
  }
  if (kind !== "any" && kindOf(value) !== kind) return refused(`must be a JSON ${kind}`);
  if (text.includes("\\u") && !hasStorableStrings(value)) {
    return refused("must not contain NUL or unpaired surrogates");
  }
  return { ok: true, value };
}

/** Whether Postgres can store a text: no NUL, no lone surrogate. */
export function isStorableText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/**
 * The depth of the deepest container in the text. A value that a duplicate key hides from the parsed
 * value counts too, because Postgres' recursive parser reads it.
 */
function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (inString) {
      if (char === BACKSLASH) index += 1;
      else if (char === QUOTE) inString = false;
    } else if (char === QUOTE) inString = true;
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth -= 1;
  }
  return deepest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Recursion is safe: the nesting was checked before. */
function hasStorableStrings(value: unknown): boolean {
  if (typeof value === "string") return isStorableText(value);
  if (Array.isArray(value)) return value.every(hasStorableStrings);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(
    ([key, item]) => isStorableText(key) && hasStorableStrings(item),
  );
}

function kindOf(value: unknown): "object" | "array" | "other" {
  if (Array.isArray(value)) return "array";
  return typeof value === "object" && value !== null ? "object" : "other";
}

function refused(message: string): JsonTextResult {
  return { ok: false, message };
}
