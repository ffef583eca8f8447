import type { Database, Queryable } from "@workflow/db";
import { LRUCache } from "lru-cache";
import { findTableHead, tableNotFound } from "../store/states.ts";
import type { TableHead, TableName } from "../store/states.ts";

/** What tables say about themselves, as it was when it was last looked at. */
export interface TableHeads {
  /** Perhaps an earlier head. Throws NOT_FOUND when the company has no such table. */
  get(table: TableName, queryable?: Queryable): Promise<TableHead>;
  /** The head as it is now. Throws NOT_FOUND when the company has no such table. */
  reload(table: TableName, queryable?: Queryable): Promise<TableHead>;
  /** To be called when a table turns out to be gone. */
  forget(table: TableName): void;
}

const HEADS_MAX = 10_000;
const HEADS_BYTES_MAX = 32 * 1024 * 1024;

/** A small memory of heads; whoever uses one finds out by its `schemaRevision` whether it is current. */
export function createTableHeads(database: Database): TableHeads {
  const heads = new LRUCache<string, TableHead>({
    max: HEADS_MAX,
    maxSize: HEADS_BYTES_MAX,
    sizeCalculation: bytesOf,
  });
  const reload = async (table: TableName, queryable: Queryable = database): Promise<TableHead> => {
    const head = await findTableHead(queryable, table);
    if (head === null) {
      if (heads.peek(table.tableId)?.companyId === table.companyId) heads.delete(table.tableId);
      throw tableNotFound();
    }
    const known = heads.peek(table.tableId);
    // Whoever read earlier may have got his answer later.
    if (known !== undefined && known.schemaRevision > head.schemaRevision) return known;
    heads.set(table.tableId, head);
    return head;
  };
  return {
    async get(table, queryable) {
      const head = heads.get(table.tableId);
      if (head === undefined) return reload(table, queryable);
      // Tables never change hands.
      if (head.companyId !== table.companyId) throw tableNotFound();
      return head;
    },
    reload,
    forget: ({ tableId }) => void heads.delete(tableId),
  };
}

/** A rough figure: an object for each column, and what is written in it. */
function bytesOf({ name, columns }: TableHead): number {
  let bytes = 300 + 2 * name.length;
  for (const { id, name: columnName, options = [] } of columns) {
    bytes += 200 + 2 * (id.length + columnName.length);
    for (const option of options) bytes += 24 + 2 * option.length;
  }
  return bytes;
}
