import { changesBetween, itemChanges } from "@workflow/audit";
import type { AuditChanges, AuditEntry, AuditFields, AuditItems } from "@workflow/audit";
import { isJsonObject } from "@workflow/json";
import type { Column } from "./column.ts";
import type { TableContent } from "./new-table.ts";

/** A table as far as what becomes of it is recorded. */
export interface AuditedTable extends TableContent {
  id: string;
  rowCount: number;
  folderId: string | null;
}

/** What is recorded of a new table, imported or not. */
export function tableCreated(table: AuditedTable): AuditEntry {
  const changes = tableChanges(null, table);
  return { action: "table.created", resourceType: "table", resourceId: table.id, changes };
}

/** What is recorded of a table that was changed: of documents only that they did. */
export function tableUpdated(before: AuditedTable, after: AuditedTable): AuditEntry {
  const changes = tableChanges(before, after);
  return { action: "table.updated", resourceType: "table", resourceId: after.id, changes };
}

/** What is recorded of a table that is gone. */
export function tableDeleted({ id, name, rowCount }: AuditedTable): AuditEntry {
  const changes = changesBetween({ name, rowCount }, {});
  return { action: "table.deleted", resourceType: "table", resourceId: id, changes };
}

/** What is recorded of a table that lies in another folder now. */
export function tableMoved(id: string, from: string | null, to: string | null): AuditEntry {
  const changes = changesBetween({ folderId: from }, { folderId: to });
  return { action: "table.moved", resourceType: "table", resourceId: id, changes };
}

/** What is recorded of a new folder. */
export function folderCreated({ id, name }: { id: string; name: string }): AuditEntry {
  const changes = changesBetween({}, { name });
  return { action: "table_folder.created", resourceType: "table_folder", resourceId: id, changes };
}

function tableChanges(before: AuditedTable | null, after: AuditedTable): AuditChanges {
  const columnsBefore = columnsById(before?.columns ?? []);
  const columnsAfter = columnsById(after.columns);
  const hasChangedSchema = schemaRest(before?.schemaJson) !== schemaRest(after.schemaJson);
  const hasChangedMetadata = (before?.metadataJson ?? "{}") !== after.metadataJson;
  const hasChangedColumns =
    JSON.stringify([...columnsBefore]) !== JSON.stringify([...columnsAfter]);
  return {
    ...changesBetween(before === null ? {} : fieldsOf(before), fieldsOf(after)),
    ...(hasChangedColumns ? { columns: itemChanges(columnsBefore, columnsAfter) } : {}),
    ...(hasChangedSchema ? { schema: { changed: true } } : {}),
    ...(hasChangedMetadata ? { metadata: { changed: true } } : {}),
  };
}

function fieldsOf(table: AuditedTable): AuditFields {
  const { name, description, maxRows, rowEvents, folderId } = table;
  // Of a new table that it has no rows goes without saying.
  const rowCount = table.rowCount === 0 ? undefined : table.rowCount;
  return { name, description, maxRows, rowCount, rowEvents, folderId };
}

function columnsById(columns: readonly Column[]): AuditItems {
  return new Map(columns.map((column) => [column.id, JSON.stringify(column)]));
}

/** A schema without its columns, which are told by themselves. */
function schemaRest(schemaJson = "{}"): string {
  const schema: unknown = JSON.parse(schemaJson);
  if (!isJsonObject(schema)) return schemaJson;
  const { columns: _, ...rest } = schema;
  return JSON.stringify(rest);
}
