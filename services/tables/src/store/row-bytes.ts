import { sql } from "@workflow/db";
import type { SqlFragment, Transaction } from "@workflow/db";
import { z } from "zod";
import type { TableKey } from "./table-key.ts";

/** The most bytes of UTF-8 in the JSON of rows. */
export interface RowBytesMax {
  /** The limit of one table. */
  table: number;
  /** The limit of all tables of a company together. */
  company: number;
}

const rowBytes = z.object({ rowBytes: z.number(), otherBytes: z.number() });

/** The bytes of UTF-8 in the JSON of rows. */
export type RowBytes = z.infer<typeof rowBytes>;

/**
 * The bytes in the JSON of a company's rows, without those of one table, as committed when the statement began. The
 * statement takes no lock, so concurrent writes are not in the sum.
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

/**
 * The bytes of a table's rows as this transaction has written them, and those of the company's other tables.
 */
export function findRowBytes(transaction: Transaction, key: TableKey): Promise<RowBytes> {
  return transaction.one(sql.prepared("table_states_row_bytes", rowBytes)`
    select state.row_bytes as "rowBytes", ${bytesOfOtherTables(key)} as "otherBytes"
    from tables.table_states as state
    where state.table_key = ${key.tableKey} and state.company_id = ${key.companyId}
  `);
}
