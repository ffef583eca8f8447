import { invalidRequest } from "@workflow/errors";
import { isJsonObject, isStorableText, parseJsonText } from "@workflow/json";
import type { Column } from "./column.ts";
import { parseColumns } from "./columns.ts";
import type { ColumnsOrigin } from "./columns.ts";
import { reportInfiniteNumbers } from "./json-numbers.ts";
import type { FieldPath } from "./problems.ts";

/** The row limit of a table whose creator names none. */
export const MAX_ROWS_DEFAULT = 10_000;
/** The highest row limit of any table. */
const MAX_ROWS_LIMIT = 100_000;
const NAME_CHARS_MAX = 255;
const DOCUMENT_BYTES_MAX = 1024 * 1024;

/** A column without an id gets a new one, or the id of the existing column with its name (D35). */
export function generatedIds(newId: () => string, existing: readonly Column[] = []): ColumnsOrigin {
  return { idFrom: "generated", newId, existing };
}

/** Reports a name that has not 1 to 255 characters (code points) of storable text. */
export function checkName(name: string, place: FieldPath): void {
  if (!isStorableText(name)) {
    place.report("must not contain NUL or unpaired surrogates");
  } else if (!hasNameLength(name)) {
    place.report(`must have 1 to ${NAME_CHARS_MAX} characters`);
  }
}

/** Reports a description that cannot be stored. */
export function checkDescription(description: string, place: FieldPath): void {
  if (!isStorableText(description)) {
    place.report("must not contain NUL or unpaired surrogates");
  } else if (Buffer.byteLength(description) > DOCUMENT_BYTES_MAX) {
    place.report(`must have at most ${DOCUMENT_BYTES_MAX} bytes`);
  }
}

/** Reports a row limit that no table may have. */
export function checkMaxRows(maxRows: number, place: FieldPath): void {
  if (!Number.isInteger(maxRows) || maxRows < 1 || maxRows > MAX_ROWS_LIMIT) {
    place.report(`must be an integer from 1 to ${MAX_ROWS_LIMIT}`);
  }
}

/**
 * Reads a JSON object of the caller's own. An empty text is an empty object. The result is null for a text that was
 * reported.
 */
export function parseDocument(
  text: string,
  place: FieldPath,
): Readonly<Record<string, unknown>> | null {
  if (text === "") return {};
  if (Buffer.byteLength(text) > DOCUMENT_BYTES_MAX) {
    place.report(`must have at most ${DOCUMENT_BYTES_MAX} bytes`);
    return null;
  }
  const parsed = parseJsonText(text, "object");
  if (parsed.ok && isJsonObject(parsed.value)) {
    return reportInfiniteNumbers(text, parsed.value, place) ? null : parsed.value;
  }
  place.report(parsed.ok ? "must be a JSON object" : parsed.message);
  return null;
}

/** The stored schema of a table, and the columns in it. */
export interface TableSchema {
  columns: readonly Column[];
  schemaJson: string;
}

/**
 * Combines columns and schema. Given columns replace those of the schema. A schema without columns has none, and is
 * stored as its owner wrote it.
 * @throws AppError BAD_REQUEST
 */
export function buildSchema(
  schema: Readonly<Record<string, unknown>>,
  columns: readonly unknown[] | undefined,
  origin: ColumnsOrigin,
): TableSchema {
  if (columns === undefined && !Object.hasOwn(schema, "columns")) {
    return { columns: [], schemaJson: JSON.stringify(schema) };
  }
  const parsed =
    columns === undefined
      ? parseColumns(schema["columns"], { ...origin, path: ["schema", "columns"] })
      : parseColumns(columns, origin);
  const schemaJson = JSON.stringify({ ...schema, columns: parsed });
  if (Buffer.byteLength(schemaJson) > DOCUMENT_BYTES_MAX) {
    const message = `must, with the rest of the schema, have at most ${DOCUMENT_BYTES_MAX} bytes`;
    throw invalidRequest([{ path: ["columns"], message }]);
  }
  return { columns: parsed, schemaJson };
}

/** A code point has at most two UTF-16 units, so a huge text need not be taken apart. */
function hasNameLength(name: string): boolean {
  if (name === "" || name.length > NAME_CHARS_MAX * 2) return false;
  return Array.from(name).length <= NAME_CHARS_MAX;
}
