import type { Queryable } from "@workflow/db";
import { LRUCache } from "lru-cache";
import type { Caller, CompanyConnections } from "../company-connections.ts";
import { findTableHead, isSameHead, tableNotFound } from "../store/states.ts";
import type { TableHead, TableName } from "../store/states.ts";
import { SharedWork } from "./shared-work.ts";

/** The heads of tables as they were when they were last read. */
export interface TableHeads {
  /**
   * Returns a head that may be out of date. Callers who miss the same head share one look-up.
   * @throws AppError NOT_FOUND when the company has no such table, the caller's reason when that leaves first
   */
  get(table: TableName, caller?: Caller): Promise<TableHead>;
  /**
   * Returns a head that may be out of date. It is looked up inside the transaction, which holds a connection
   * already: waiting for another one could be in vain.
   * @throws AppError NOT_FOUND when the company has no such table
   */
  getInside(table: TableName, transaction: Queryable): Promise<TableHead>;
  /**
   * Returns the head as it is now.
   * @throws AppError NOT_FOUND when the company has no such table
   */
  reload(table: TableName, queryable: Queryable): Promise<TableHead>;
  /** Forgets a table that turned out to be gone. */
  invalidate(table: TableName): void;
}

const HEADS_MAX = 10_000;
const HEADS_BYTES_MAX = 32 * 1024 * 1024;

/** A head, and the number of the look-up that found it, in the order in which look-ups began. */
interface Known {
  head: TableHead;
  lookUp: number;
}

/** Opens a small cache of heads. Users of a head find out whether it is current (`isSameHead`). */
export function createTableHeads(connections: CompanyConnections): TableHeads {
  const heads = new LRUCache<string, Known>({
    max: HEADS_MAX,
    maxSize: HEADS_BYTES_MAX,
    sizeCalculation: ({ head }) => bytesOf(head),
  });
  let lookUps = 0;
  const reload = async (table: TableName, queryable: Queryable): Promise<TableHead> => {
    const lookUp = ++lookUps;
    const head = await findTableHead(queryable, table);
    const known = heads.peek(table.tableId);
    if (head === null) {
      if (known?.head.companyId === table.companyId) heads.delete(table.tableId);
      throw tableNotFound();
    }
    // A later look-up has rarely seen less, and users of a head find out.
    if (known !== undefined && known.lookUp > lookUp) return known.head;
    const isAsBefore = known !== undefined && isSameHead(known.head, head);
    const kept = isAsBefore ? known.head : head;
    heads.set(table.tableId, { head: kept, lookUp });
    return kept;
  };
  const remembered = (table: TableName): TableHead | null => {
    const head = heads.get(table.tableId)?.head ?? null;
    // Tables never change hands.
    if (head !== null && head.companyId !== table.companyId) throw tableNotFound();
    return head;
  };
  const shared = createSharedLookUps(async (table, caller) => {
    await reload(table, connections.of(table.companyId, caller));
  });
  return {
    async get(table, caller) {
      const head = remembered(table);
      if (head !== null) return head;
      await shared(table, caller);
      // The cache may have no room for it.
      return remembered(table) ?? reload(table, connections.of(table.companyId, caller));
    },
    async getInside(table, transaction) {
      return remembered(table) ?? reload(table, transaction);
    },
    reload,
    invalidate({ companyId, tableId }) {
      if (heads.peek(tableId)?.head.companyId === companyId) heads.delete(tableId);
    },
  };
}

/** Looks each table up once at a time, for all who wait for it. */
function createSharedLookUps(
  lookUp: (table: TableName, caller: Caller) => Promise<void>,
): (table: TableName, caller?: Caller) => Promise<void> {
  const running = new Map<string, SharedWork>();
  return async (table, caller) => {
    const key = `${table.companyId}/${table.tableId}`;
    let work = running.get(key);
    if (work === undefined || work.isAbandoned) {
      const begun = new SharedWork((signal) => lookUp(table, { signal }));
      running.set(key, begun);
      void begun.over().then(() => {
        if (running.get(key) === begun) running.delete(key);
      });
      work = begun;
    }
    await work.wait(caller?.signal);
  };
}

/** A rough estimate: an object for each column, and its texts. */
function bytesOf({ name, columns }: TableHead): number {
  let bytes = 300 + 2 * name.length;
  for (const { id, name: columnName, options = [] } of columns) {
    bytes += 200 + 2 * (id.length + columnName.length);
    for (const option of options) bytes += 24 + 2 * option.length;
  }
  return bytes;
}
