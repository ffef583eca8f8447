import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import type { TablesTotal } from "../domain/company-room.ts";

const totalRow = z.object({ tables: z.number(), documentBytes: z.number() });

/**
 * Tables and folders of a company are made one after the other until the transaction ends, so that they
 * can be counted. A transaction takes this lock last: an import would otherwise hold the others up for seconds.
 */
export async function lockRoom(transaction: Transaction, companyId: string): Promise<void> {
  const name = `tables room ${companyId.toLowerCase()}`;
  await transaction.query(sql.prepared("room_lock", z.object({}))`
    select pg_advisory_xact_lock(hashtextextended(${name}, 0))
  `);
}

/** How many tables a company has, and the bytes of what they say about themselves. */
export function measureTables(database: Queryable, companyId: string): Promise<TablesTotal> {
  return database.one(sql.prepared("tables_total", totalRow)`
    select
      count(*) as tables,
      coalesce(sum(
        octet_length("table".schema::text)
        + octet_length("table".metadata::text)
        + coalesce(octet_length("table".description), 0)
      ), 0)::bigint as "documentBytes"
    from tables.tables as "table"
    where "table".company_id = ${companyId}
  `);
}
