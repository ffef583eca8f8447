import { sql } from "@workflow/db";
import type { Reading, Transaction } from "@workflow/db";
import { z } from "zod";
import type { TableKey } from "./states.ts";

const exportedRow = z.object({ position: z.number(), id: z.string(), data: z.string() });

/** The exported part of a row. */
export type ExportedRow = z.output<typeof exportedRow>;

const PAGE_ROWS = 1_000;
const PAGE_BYTES = 4 * 1024 * 1024;

/** Takes the transaction's snapshot: all later statements see the same state. */
export async function freezeSnapshot(transaction: Pick<Reading, "any">): Promise<void> {
  await transaction.any(sql.type(z.object({}))`
    set transaction isolation level repeatable read, read only
  `);
}

/**
 * The next rows after a position, in order, and at least one unless there is none. A page has at most 1,000 rows
 * and about 4 MiB. Postgres must unpack a compressed value to know its length. Such a value therefore counts as
 * long as it can be: pglz packs to a hundredth at best, and no row has more than 1 MiB of data.
 */
export async function listRowsAfter(
  transaction: Transaction,
  { tableKey }: TableKey,
  position: number,
): Promise<readonly ExportedRow[]> {
  return transaction.any(sql.prepared("rows_export", exportedRow)`
    with page as materialized (
      select
        "row".position,
        "row".id,
        "row".data,
        case
          when pg_column_compression("row".data) is null then pg_column_size("row".data)
          else least(pg_column_size("row".data) * 100, 1048576)
        end as bytes
      from tables.rows as "row"
      where "row".table_key = ${tableKey} and "row".position > ${position}
      order by "row".position
      limit ${PAGE_ROWS}
    ),
    measured as (
      select page.*, sum(page.bytes) over (order by page.position) - page.bytes as before
      from page
    )
    select measured.position, measured.id, measured.data::text as "data"
    from measured
    where measured.before < ${PAGE_BYTES}
    order by measured.position
  `);
}
