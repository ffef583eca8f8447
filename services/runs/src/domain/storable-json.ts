/** An escape that Postgres cannot store as text: NUL, or half of a surrogate pair. */
const SUSPECT_ESCAPE = /\\u(?:0000|d[89a-f])/i;

/**
 * A value as it can be stored, and its JSON text. Receivers may answer NUL and lone surrogates, which
 * Postgres refuses (22P05). They become U+FFFD, and `undefined` becomes null.
 */
export function storable(value: unknown): { value: unknown; text: string } {
  const text = JSON.stringify(value) ?? "null";
  if (!SUSPECT_ESCAPE.test(text)) return { value: value ?? null, text };
  const clean = cleaned(value);
  return { value: clean, text: JSON.stringify(clean) };
}

/** The JSON text of a value as it can be stored. */
export function storableJson(value: unknown): string {
  return storable(value).text;
}

/** Text as it can be stored. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  // `fromEntries` keeps a key named __proto__ as an ordinary key.
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [storableText(key), cleaned(entry)]),
  );
}
