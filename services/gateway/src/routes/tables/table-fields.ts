import { ColumnType, ExportFormat } from "@workflow/proto/tables/v1/tables";
import type { Column, ColumnList, CreateTableRequest } from "@workflow/proto/tables/v1/tables";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { namesOf } from "../answer-schemas.ts";
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

/** The type of a column's values. */
export const columnType = namesOf(COLUMN_TYPES).meta({
  id: "ColumnType",
  description:
    "What the values of a column are: `date` is a day such as 2026-01-31, `select` one of the column's options.",
});

/** The formats of exports by their names in the REST contract. */
export const EXPORT_FORMATS = {
  csv: { value: ExportFormat.CSV, contentType: "text/csv" },
  jsonl: { value: ExportFormat.JSONL, contentType: "application/jsonl" },
} as const;

/** A name or an id: kept as sent. */
const shortText = z
  .string()
  .refine((text) => text !== "" && Array.from(text).length <= 255, "must have 1 to 255 characters")
  .meta({ minLength: 1, maxLength: 255 });

/** The name of a table: kept as sent. */
export const tableName = shortText.describe("What people call it.").meta({ examples: ["Orders"] });

/** A column of a request. */
export const columnFields = z
  .object({
    id: shortText
      .nullish()
      .describe(
        "Unique in the table. Without it one is made with the prefix col_; in place of columns, one of the same name gives its id on; in an import the name is the id.",
      ),
    name: shortText.describe("What people call it.").meta({ examples: ["State"] }),
    type: columnType,
    required: z
      .boolean()
      .nullish()
      .describe("Whether people are asked to fill it in; not enforced."),
    options: z
      .array(z.string().meta({ minLength: 1 }))
      .nullish()
      .describe("What a select column offers, in its sort order: at least one, each once.")
      .meta({ examples: [["open", "late", "done"]] }),
  })
  .meta({ id: "ColumnInput", description: "A column that a table is to declare." });

/** A column of a request, checked. */
export type ColumnFields = z.output<typeof columnFields>;

const MAX_ROWS = "must be an integer from 1 to 100000";

/** The row limit of a table. */
const maxRows = z
  .int(MAX_ROWS)
  .min(1, MAX_ROWS)
  .max(100_000, MAX_ROWS)
  .describe(
    "How many rows it may have; 10,000 unless said otherwise. Fewer than it has: no more are added.",
  )
  .meta({ examples: [10_000] });

/** The id of a folder, or null for the root. */
export const folderId = z
  .string()
  .nullable()
  .describe("The folder to lie in, a UUID; null: the root.");

/**
 * The folder of a body, in the form of the tables service. An empty id would mean the root there.
 *
 * @throws AppError NOT_FOUND for an empty id, as for every malformed one (D36)
 */
export function folderIdOf(id: z.output<typeof folderId> = null): string {
  if (id === "") throw new AppError("NOT_FOUND", "Folder not found");
  return id ?? "";
}

/** The fields of a new table. The tables service validates the documents. */
export const newTable = z
  .object({
    name: tableName,
    description: z.string().nullish().describe("For people, at most 1 MiB; null: none."),
    columns: z
      .array(columnFields)
      .optional()
      .describe("They take the place of `schema.columns`; without them those count.")
      .meta({ examples: [[{ name: "State", type: "select", options: ["open", "done"] }]] }),
    schema: jsonObject
      .optional()
      .describe("Whatever the caller keeps with the columns, at most 1 MiB with them.")
      .meta({ examples: [{}] }),
    metadata: jsonObject
      .optional()
      .describe("The caller's own members, at most 1 MiB.")
      .meta({ examples: [{ team: "sales" }] }),
    maxRows: maxRows.optional(),
    rowEvents: z
      .boolean()
      .optional()
      .describe("Whether changes of its rows are told as events; false unless said otherwise."),
    folderId: folderId.optional(),
  })
  .meta({ id: "NewTable", description: "A new table." });

/** The request to create a table, without rows; its documents are passed as texts. */
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
