/** A JSON object; own properties only are ever looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
