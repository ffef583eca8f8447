/** An escape that Postgres cannot store as text: NUL, or half of a surrogate pair. */
const SUSPECT_ESCAPE = /\\u(?:0000|d[89a-f])/i;

/**
 * The JSON text of a value as it can be stored. Steps produce whatever a receiver answered: NUL and
 * lone surrogates, which Postgres refuses (22P05), become U+FFFD. `undefined` is null.
 */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return SUSPECT_ESCAPE.test(text) ? (JSON.stringify(cleaned(value)) ?? "null") : text;
}

/** JSON text from elsewhere (an expression thread) as it can be stored. */
export function storableJsonText(text: string): string {
  return SUSPECT_ESCAPE.test(text) ? storableJson(JSON.parse(text)) : text;
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return cleanedText(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  // A null prototype keeps a key named __proto__ a plain key.
  const copy: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [key, entry] of Object.entries(value)) copy[cleanedText(key)] = cleaned(entry);
  return copy;
}

function cleanedText(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}
