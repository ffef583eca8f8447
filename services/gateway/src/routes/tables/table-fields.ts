import { ColumnType, ExportFormat } from "@workflow/proto/tables/v1/tables";
import type { Column, ColumnList, CreateTableRequest } from "@workflow/proto/tables/v1/tables";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { jsonObject } from "../fields.ts";

/** The types of columns by their names in the REST contract. */
export const COLUMN_TYPES = {
  text: ColumnType.TEXT,
  number: ColumnType.NUMBER,
  boolean: ColumnType.BOOLEAN,
  date: ColumnType.DATE,
  select: ColumnType.SELECT,
  url: ColumnType.URL,
  email: ColumnType.EMAIL,
  json: ColumnType.JSON,
} as const;

export type ColumnTypeName = keyof typeof COLUMN_TYPES;

const COLUMN_TYPE_NAMES = [
  "text",
  "number",
  "boolean",
  "date",
  "select",
  "url",
  "email",
  "json",
] as const satisfies readonly ColumnTypeName[];

/** The formats of exports by their names in the REST contract. */
export const EXPORT_FORMATS = {
  csv: { value: ExportFormat.CSV, contentType: "text/csv" },
  jsonl: { value: ExportFormat.JSONL, contentType: "application/jsonl" },
} as const;

/** A name or an id: kept as sent. */
const shortText = z
  .string()
  .refine((text) => text !== "" && Array.from(text).length <= 255, "must have 1 to 255 characters");

/** The name of a table: kept as sent. */
export const tableName = shortText;

/** A column of a request. */
export const columnFields = z.object({
  id: shortText.nullish(),
  name: shortText,
  type: z.enum(COLUMN_TYPE_NAMES),
  required: z.boolean().nullish(),
  options: z.array(z.string()).nullish(),
});

/** A column of a request, checked. */
export type ColumnFields = z.output<typeof columnFields>;

const MAX_ROWS = "must be an integer from 1 to 100000";

/** How many rows a table may have. */
const maxRows = z.int(MAX_ROWS).min(1, MAX_ROWS).max(100_000, MAX_ROWS);

/** The id of a folder, or null for the root. */
export const folderId = z.string().nullable();

/**
 * The folder that a body names, as the tables service takes it. Throws NOT_FOUND for an empty id, as
 * for every one of the wrong form (D36): the service would take it for the root.
 */
export function folderIdOf(id: z.output<typeof folderId> = null): string {
  if (id === "") throw new AppError("NOT_FOUND", "Folder not found");
  return id ?? "";
}

/** The fields of a new table. What is inside the documents is the tables service's to judge. */
export const newTable = z.object({
  name: tableName,
  description: z.string().nullish(),
  columns: z.array(columnFields).optional(),
  schema: jsonObject.optional(),
  metadata: jsonObject.optional(),
  maxRows: maxRows.optional(),
  rowEvents: z.boolean().optional(),
  folderId: folderId.optional(),
});

/** What a new table is called and may hold; its documents are given as texts. */
export function createTableRequest(
  fields: z.output<typeof newTable>,
  rawJson: (member: "schema" | "metadata") => string | undefined,
): CreateTableRequest {
  return {
    name: fields.name,
    description: fields.description ?? "",
    columns: columnList(fields.columns),
    schemaJson: rawJson("schema") ?? "",
    metadataJson: rawJson("metadata") ?? "",
    maxRows: fields.maxRows,
    rowEvents: fields.rowEvents ?? false,
    folderId: folderIdOf(fields.folderId),
  };
}

/** Columns as the tables service takes them; undefined when none were given. */
export function columnList(columns: readonly ColumnFields[] | undefined): ColumnList | undefined {
  return columns === undefined ? undefined : { columns: columns.map(toColumn) };
}

function toColumn({ id, name, type, required, options }: ColumnFields): Column {
  return {
    id: id ?? "",
    name,
    type: COLUMN_TYPES[type],
    required: required ?? undefined,
    options: options ?? [],
  };
}
