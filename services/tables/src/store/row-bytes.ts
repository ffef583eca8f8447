import { sql } from "@workflow/db";
import type { SqlFragment, Transaction } from "@workflow/db";
import { z } from "zod";
import type { TableKey } from "./table-key.ts";

/** What the JSON of rows may have together, in bytes of UTF-8. */
export interface RowBytesMax {
  /** Those of one table. */
  table: number;
  /** Those of all tables of a company. */
  company: number;
}

const rowBytes = z.object({ rowBytes: z.number(), otherBytes: z.number() });

/** What the JSON of rows has together, in bytes of UTF-8. */
export type RowBytes = z.infer<typeof rowBytes>;

/**
 * What the JSON of a company's rows has together, except for those of one table, as far as it was committed when
 * the statement began. No lock is taken, so what others write meanwhile is not in it.
 */
export function bytesOfOtherTables({ companyId, tableKey }: TableKey): SqlFragment {
  return sql.fragment`
    (
      select coalesce(sum(other.row_bytes), 0)::bigint
      from tables.table_states as other
      where other.company_id = ${companyId} and other.table_key <> ${tableKey}
    )
  `;
}

/** What a table's rows have, as this transaction has written them, and those of the company's other tables. */
export function findRowBytes(transaction: Transaction, key: TableKey): Promise<RowBytes> {
  return transaction.one(sql.prepared("table_states_row_bytes", rowBytes)`
    select state.row_bytes as "rowBytes", ${bytesOfOtherTables(key)} as "otherBytes"
    from tables.table_states as state
    where state.table_key = ${key.tableKey} and state.company_id = ${key.companyId}
  `);
}
