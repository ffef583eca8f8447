import type { ColumnType, Column, Folder, Table } from "@workflow/proto/tables/v1/tables";
import { RawJson } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";
import { COLUMN_TYPES } from "./table-fields.ts";

const TYPE_NAMES = new Map<ColumnType, string>(
  Object.entries(COLUMN_TYPES).map(([name, type]) => [type, name]),
);

/** A table as the contract shows it. */
export function tableJson(table: Table): { readonly [field: string]: Writable } {
  return {
    id: table.id,
    name: table.name,
    description: table.description,
    columns: table.columns.map(columnJson),
    schema: new RawJson(table.schemaJson),
    metadata: new RawJson(table.metadataJson),
    maxRows: table.maxRows,
    rowCount: table.rowCount,
    rowEvents: table.rowEvents,
    folderId: table.folderId ?? null,
    createdAt: table.createdAt,
    updatedAt: table.updatedAt,
  };
}

/** A folder as the contract shows it. */
export function folderJson({ id, name, tableIds, createdAt, updatedAt }: Folder): Writable {
  return { id, name, tableIds, createdAt, updatedAt };
}

function columnJson({ id, name, type, required, options }: Column): Writable {
  return {
    id,
    name,
    type: TYPE_NAMES.get(type) ?? "unknown",
    required,
    options: options.length === 0 ? undefined : options,
  };
}
