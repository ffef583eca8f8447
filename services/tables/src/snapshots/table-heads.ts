import type { Queryable } from "@workflow/db";
import { LRUCache } from "lru-cache";
import type { CompanyConnections } from "../company-connections.ts";
import { findTableHead, isSameHead, tableNotFound } from "../store/states.ts";
import type { TableHead, TableName } from "../store/states.ts";

/** What tables say about themselves, as it was when it was last looked at. */
export interface TableHeads {
  /**
   * Perhaps an earlier head.
   *
   * @throws AppError NOT_FOUND when the company has no such table
   */
  get(table: TableName, queryable?: Queryable): Promise<TableHead>;
  /**
   * The head as it is now.
   *
   * @throws AppError NOT_FOUND when the company has no such table
   */
  reload(table: TableName, queryable?: Queryable): Promise<TableHead>;
  /** To be called when a table turns out to be gone. */
  invalidate(table: TableName): void;
}

const HEADS_MAX = 10_000;
const HEADS_BYTES_MAX = 32 * 1024 * 1024;

/** A head, and which look-up has found it, counted as they began. */
interface Known {
  head: TableHead;
  lookUp: number;
}

/** A small memory of heads; whoever uses one finds out whether it is current (`isSameHead`). */
export function createTableHeads(connections: CompanyConnections): TableHeads {
  const heads = new LRUCache<string, Known>({
    max: HEADS_MAX,
    maxSize: HEADS_BYTES_MAX,
    sizeCalculation: ({ head }) => bytesOf(head),
  });
  let lookUps = 0;
  const reload = async (
    table: TableName,
    queryable: Queryable = connections.of(table.companyId),
  ): Promise<TableHead> => {
    const lookUp = ++lookUps;
    const head = await findTableHead(queryable, table);
    const known = heads.peek(table.tableId);
    if (head === null) {
      if (known?.head.companyId === table.companyId) heads.delete(table.tableId);
      throw tableNotFound();
    }
    // One that began later has hardly seen less; whoever uses a head finds out.
    if (known !== undefined && known.lookUp > lookUp) return known.head;
    const isAsBefore = known !== undefined && isSameHead(known.head, head);
    const kept = isAsBefore ? known.head : head;
    heads.set(table.tableId, { head: kept, lookUp });
    return kept;
  };
  return {
    async get(table, queryable) {
      const known = heads.get(table.tableId);
      if (known === undefined) return reload(table, queryable);
      const { head } = known;
      // Tables never change hands.
      if (head.companyId !== table.companyId) throw tableNotFound();
      return head;
    },
    reload,
    invalidate({ companyId, tableId }) {
      if (heads.peek(tableId)?.head.companyId === companyId) heads.delete(tableId);
    },
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
