import type { ColumnsOrigin } from "./columns.ts";
import { Problems } from "./problems.ts";
import {
  buildSchema,
  checkDescription,
  checkMaxRows,
  checkName,
  MAX_ROWS_DEFAULT,
  parseDocument,
} from "./table-fields.ts";
import type { TableSchema } from "./table-fields.ts";

/**
 * The fields of a new table as a caller gives them. Columns have the shape of the REST contract.
 */
export interface NewTableFields {
  name: string;
  description: string;
  columns?: readonly unknown[] | undefined;
  schemaJson: string;
  metadataJson: string;
  maxRows?: number | undefined;
  rowEvents: boolean;
}

/** The description of a table: everything but its rows. */
export interface TableContent extends TableSchema {
  name: string;
  description: string | null;
  /** The JSON text of an object. */
  metadataJson: string;
  maxRows: number;
  rowEvents: boolean;
}

/**
 * Checks the fields of a new table.
 * @throws AppError BAD_REQUEST naming each wrong field as REST callers know it
 */
export function parseNewTable(fields: NewTableFields, origin: ColumnsOrigin): TableContent {
  const { name, description, maxRows = MAX_ROWS_DEFAULT, rowEvents } = fields;
  const problems = new Problems();
  checkName(name, problems.at("name"));
  checkDescription(description, problems.at("description"));
  checkMaxRows(maxRows, problems.at("maxRows"));
  const schema = parseDocument(fields.schemaJson, problems.at("schema"));
  const metadata = parseDocument(fields.metadataJson, problems.at("metadata"));
  problems.throwIfAny();
  return {
    name,
    description: description === "" ? null : description,
    metadataJson: JSON.stringify(metadata),
    maxRows,
    rowEvents,
    ...buildSchema(schema ?? {}, fields.columns, origin),
  };
}
