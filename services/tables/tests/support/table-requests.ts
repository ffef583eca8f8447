import { sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import {
  ColumnType,
  CreateTableRequest,
  UpdateTableRequest,
} from "@workflow/proto/tables/v1/tables";
import type { Column, ImportTableRequest } from "@workflow/proto/tables/v1/tables";
import { z } from "zod";

/** A request for a new table, with defaults for what a test is not about. */
export function newTable(fields: Partial<CreateTableRequest> = {}): CreateTableRequest {
  return CreateTableRequest.fromPartial({ name: "Customers", ...fields });
}

/** A change of a table that leaves everything else as it is. */
export function tableChange(
  tableId: string,
  fields: Partial<UpdateTableRequest> = {},
): UpdateTableRequest {
  return UpdateTableRequest.fromPartial({ tableId, ...fields });
}

/** A column of a request, text unless it is said otherwise. */
export function column(name: string, more: Partial<Column> = {}): Column {
  return { id: "", name, type: ColumnType.TEXT, required: undefined, options: [], ...more };
}

/** The messages of an import: the table, its rows so many at once, the end. */
export function* importMessages(
  table: CreateTableRequest,
  rows: readonly object[],
  rowsAtOnce = 100,
): Generator<ImportTableRequest> {
  yield { part: { $case: "table", value: table } };
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    const dataJson = rows.slice(from, from + rowsAtOnce).map((row) => JSON.stringify(row));
    yield { part: { $case: "rows", value: { dataJson } } };
  }
  yield { part: { $case: "end", value: { rowCount: rows.length } } };
}

/** How many rows the service's tables have, by table. */
export async function countRecords(database: Database): Promise<object> {
  return database.one(sql.type(z.looseObject({}))`
    select
      (select count(*) from tables.tables) as tables,
      (select count(*) from tables.table_states) as states,
      (select count(*) from tables.rows) as rows,
      (select count(*) from tables.row_deletions) as deletions,
      (select count(*) from tables.row_write_keys) as keys
  `);
}

const auditEvent = z.object({
  type: z.string(),
  data: z.object({
    resourceType: z.string(),
    resourceId: z.string(),
    changes: z.record(z.string(), z.unknown()),
  }),
});

/** What the audit log is told of a company, in order. */
export async function listAuditEvents(
  database: Database,
  companyId: string,
): Promise<z.output<typeof auditEvent>[]> {
  const rows = await database.any(sql.type(z.object({ payload: z.string() }))`
    select payload::text as payload
    from tables.event_log
    where stream = 'audit' and company_id = ${companyId}
    order by seq
  `);
  return rows.map(({ payload }) => auditEvent.parse(JSON.parse(payload)));
}
