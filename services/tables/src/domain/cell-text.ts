/** Whether a row has no value here: missing, null or an empty string. */
export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/** What a value looks like as text, for search and as a label; empty for null and a missing one. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
