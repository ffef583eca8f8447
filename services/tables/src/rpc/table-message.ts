import { ColumnType as MessageType } from "@workflow/proto/tables/v1/tables";
import type { Column as ColumnMessage, ColumnList, Table } from "@workflow/proto/tables/v1/tables";
import type { Column, ColumnType } from "../domain/column.ts";
import type { TableRow } from "../store/tables.ts";

const MESSAGE_TYPE = {
  text: MessageType.TEXT,
  number: MessageType.NUMBER,
  boolean: MessageType.BOOLEAN,
  date: MessageType.DATE,
  select: MessageType.SELECT,
  url: MessageType.URL,
  email: MessageType.EMAIL,
  json: MessageType.JSON,
} as const satisfies Record<ColumnType, MessageType>;

const TYPE_NAMES: ReadonlyMap<MessageType, string> = new Map(
  Object.entries(MESSAGE_TYPE).map(([name, type]) => [type, name]),
);

/** The message for a stored table. */
export function toTableMessage(row: TableRow): Table {
  return {
    id: row.id,
    name: row.name,
    description: row.description ?? undefined,
    columns: row.columns.map(toColumnMessage),
    schemaJson: row.schemaJson,
    metadataJson: row.metadataJson,
    maxRows: row.maxRows,
    rowCount: row.rowCount,
    rowEvents: row.rowEvents,
    folderId: row.folderId ?? undefined,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

/** The columns of a request in the shape of the REST contract, not checked yet. */
export function fromColumnList(list: ColumnList | undefined): readonly object[] | undefined {
  return list?.columns.map(({ id, name, type, required, options }) => ({
    id: id === "" ? undefined : id,
    name,
    type: TYPE_NAMES.get(type),
    required,
    options,
  }));
}

function toColumnMessage({ id, name, type, required, options = [] }: Column): ColumnMessage {
  return { id, name, type: MESSAGE_TYPE[type], required, options: [...options] };
}
