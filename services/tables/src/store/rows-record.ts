import { sql } from "@workflow/db";
import type { SqlFragment } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";

export const rowRecord = z.object({
  id: z.string(),
  position: z.number(),
  /** The JSON text for callers. */
  data: z.string(),
  /** The revision of the table that wrote the row. */
  revision: z.number(),
  createdAt: z.date(),
  updatedAt: z.date(),
});

/** A row of a table. */
export type RowRecord = z.infer<typeof rowRecord>;

/** The columns of a `rowRecord`, from a table with the alias `row`. */
export const rowColumns: SqlFragment = sql.fragment`
  "row".id as "id",
  "row".position as "position",
  "row".data::text as "data",
  "row".revision as "revision",
  "row".created_at as "createdAt",
  "row".updated_at as "updatedAt"
`;

/** More ids would not fit into the details of an error. */
const IDS_TOLD_MAX = 30;
const ID_CHARS_MAX = 64;

/** The one error for a row that is missing, of another table or named by a malformed id (D1). */
export function rowNotFound(): AppError {
  return new AppError("NOT_FOUND", "Row not found");
}

/** The error for a batch that names missing rows. Its details have the first ids. */
export function rowsNotFound(ids: readonly string[]): AppError {
  const rowIds = ids.slice(0, IDS_TOLD_MAX).map((id) => id.slice(0, ID_CHARS_MAX));
  return new AppError("NOT_FOUND", "Row not found", { details: { rowIds } });
}
