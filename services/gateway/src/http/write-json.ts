/** JSON text from a service, which goes into a response unchanged. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What `writeJson` can write. Members that are undefined are left out. */
export type Writable =
  | string
  | number
  | boolean
  | null
  | undefined
  | Date
  | RawJson
  | readonly Writable[]
  | { readonly [key: string]: Writable };

/**
 * Writes a value as JSON. Unlike JSON.stringify it takes parts that are JSON text already, so that
 * documents pass through the gateway without being parsed: nothing in them changes or gets lost.
 * Dates become ISO 8601 in UTC with milliseconds.
 */
export function writeJson(value: Writable): string {
  if (value === null || value === undefined) return "null";
  if (typeof value !== "object") return JSON.stringify(value);
  if (value instanceof RawJson) return value.text;
  if (value instanceof Date) return `"${value.toISOString()}"`;
  if (isList(value)) return `[${value.map(writeJson).join(",")}]`;
  let text = "";
  for (const key in value) {
    const member = value[key];
    if (member === undefined) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${writeJson(member)}`;
  }
  return `{${text}}`;
}

/** JSON text as a part of a response, null where a service left it out. */
export function rawOrNull(text: string | undefined): RawJson | null {
  return text === undefined || text === "" ? null : new RawJson(text);
}

function isList(value: Writable): value is readonly Writable[] {
  return Array.isArray(value);
}
