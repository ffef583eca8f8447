import { changesBetween, itemChanges } from "@workflow/audit";
import type { AuditChanges, AuditEntry, AuditFields, AuditItems } from "@workflow/audit";
import { isJsonObject } from "@workflow/json";
import type { Column } from "./column.ts";
import type { TableContent } from "./new-table.ts";

/** The parts of a table that the audit log records. */
export interface AuditedTable extends TableContent {
  id: string;
  rowCount: number;
  folderId: string | null;
}

/** The audit entry of a new table, imported or not. */
export function tableCreated(table: AuditedTable): AuditEntry {
  const changes = tableChanges(null, table);
  return { action: "table.created", resourceType: "table", resourceId: table.id, changes };
}

/** The audit entry of a changed table. For documents the entry says only that they changed. */
export function tableUpdated(before: AuditedTable, after: AuditedTable): AuditEntry {
  const changes = tableChanges(before, after);
  return { action: "table.updated", resourceType: "table", resourceId: after.id, changes };
}

/** The audit entry of a deleted table. */
export function tableDeleted({ id, name, rowCount }: AuditedTable): AuditEntry {
  const changes = changesBetween({ name, rowCount }, {});
  return { action: "table.deleted", resourceType: "table", resourceId: id, changes };
}

/** The audit entry of a table that was moved to another folder. */
export function tableMoved(id: string, from: string | null, to: string | null): AuditEntry {
  const changes = changesBetween({ folderId: from }, { folderId: to });
  return { action: "table.moved", resourceType: "table", resourceId: id, changes };
}

/** The audit entry of a new folder. */
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
  // A new table without rows needs no row count in its entry.
  const rowCount = table.rowCount === 0 ? undefined : table.rowCount;
  return { name, description, maxRows, rowCount, rowEvents, folderId };
}

function columnsById(columns: readonly Column[]): AuditItems {
  return new Map(columns.map((column) => [column.id, JSON.stringify(column)]));
}

/** A schema without its columns, which have an entry of their own. */
function schemaRest(schemaJson = "{}"): string {
  const schema: unknown = JSON.parse(schemaJson);
  if (!isJsonObject(schema)) return schemaJson;
  const { columns: _, ...rest } = schema;
  return JSON.stringify(rest);
}
