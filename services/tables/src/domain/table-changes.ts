import type { TableContent } from "./new-table.ts";
import { Problems } from "./problems.ts";
import {
  buildSchema,
  checkDescription,
  checkMaxRows,
  checkName,
  generatedIds,
  parseDocument,
} from "./table-fields.ts";

/** A caller's changes to a table. Undefined members stay as they are. */
export interface TableChanges {
  name?: string | undefined;
  description?: string | undefined;
  /** The columns in the shape of the REST contract. */
  columns?: readonly unknown[] | undefined;
  schemaJson?: string | undefined;
  metadataJson?: string | undefined;
  maxRows?: number | undefined;
  rowEvents?: boolean | undefined;
}

/** Whether changes have left the whole stored description of a table as it was. */
export function isUnchanged(before: TableContent, after: TableContent): boolean {
  return (
    before.name === after.name &&
    before.description === after.description &&
    before.schemaJson === after.schemaJson &&
    before.metadataJson === after.metadataJson &&
    before.maxRows === after.maxRows &&
    before.rowEvents === after.rowEvents
  );
}

/**
 * The description of a table after changes. A new schema replaces the whole old one first. New columns then replace
 * those in the schema.
 * @throws AppError BAD_REQUEST naming each wrong field as REST callers know it
 */
export function applyChanges(
  before: TableContent,
  changes: TableChanges,
  newColumnId: () => string,
): TableContent {
  const { name = before.name, maxRows = before.maxRows, rowEvents = before.rowEvents } = changes;
  const { description = before.description ?? "" } = changes;
  const { schemaJson = before.schemaJson, metadataJson = before.metadataJson } = changes;
  const problems = new Problems();
  checkName(name, problems.at("name"));
  checkDescription(description, problems.at("description"));
  checkMaxRows(maxRows, problems.at("maxRows"));
  const schema = parseDocument(schemaJson, problems.at("schema"));
  const metadata = parseDocument(metadataJson, problems.at("metadata"));
  problems.throwIfAny();
  return {
    name,
    description: description === "" ? null : description,
    metadataJson: JSON.stringify(metadata),
    maxRows,
    rowEvents,
    ...(changes.columns === undefined && changes.schemaJson === undefined
      ? { columns: before.columns, schemaJson: before.schemaJson }
      : buildSchema(schema ?? {}, changes.columns, generatedIds(newColumnId, before.columns))),
  };
}
