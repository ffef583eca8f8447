import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import type { TablesTotal } from "../domain/company-room.ts";

const totalRow = z.object({ tables: z.number(), documentBytes: z.number() });

/**
 * Locks the creation of a company's tables and folders until the transaction ends, so that they can be counted. A
 * transaction takes this lock last, because an import would otherwise hold up the others for seconds.
 */
export async function lockRoom(transaction: Transaction, companyId: string): Promise<void> {
  const name = `tables room ${companyId.toLowerCase()}`;
  await transaction.query(sql.prepared("room_lock", z.object({}))`
    select pg_advisory_xact_lock(hashtextextended(${name}, 0))
  `);
}

/** The number of a company's tables, and the bytes of their descriptions. */
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
