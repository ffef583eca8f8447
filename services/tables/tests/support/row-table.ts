import { newUuid, sql } from "@workflow/db";
import { isJsonObject } from "@workflow/json";
import type { Identity } from "@workflow/rpc";
import { InsertRowRequest, QueryRowsRequest, SortOrder } from "@workflow/proto/tables/v1/rows";
import { z } from "zod";
import type { Column } from "../../src/domain/column.ts";
import type { Clients, Harness } from "./harness.ts";

/** A table of a company, and the calls that concern its rows. */
export interface RowTable {
  tableId: string;
  identity: Identity;
  /** Adds a row and returns its id. */
  insert(data: object): Promise<string>;
  /** Adds many rows, in their order. */
  insertAll(datas: readonly object[]): Promise<void>;
  /** What a filter and a sort select: the values of one column in their order, and how many. */
  query(question: Query): Promise<{ values: unknown[]; total: number }>;
  /** The same table as another process answers for it. */
  at(clients: Pick<Clients, "rows">): RowTable;
}

export interface Query {
  filter?: object;
  sort?: string;
  descending?: boolean;
  limit?: number;
  offset?: number;
  /** The column whose values are told. */
  show: string;
}

export const TEXT: Column = { id: "name", name: "Name", type: "text" };
export const NUMBER: Column = { id: "amount", name: "Amount", type: "number" };
export const SELECT: Column = {
  id: "status",
  name: "Status",
  type: "select",
  options: ["open", "won", "lost"],
};

/** Makes a table by what it is stored as. */
export async function createRowTable(
  { database, ...clients }: Harness,
  identity: Identity,
  options: { columns?: readonly Column[]; maxRows?: number; rowEvents?: boolean } = {},
): Promise<RowTable> {
  const { columns = [TEXT, NUMBER, SELECT], maxRows = 10_000, rowEvents = false } = options;
  const tableId = newUuid();
  await database.query(sql.type(z.object({}))`
    with "table" as (
      insert into tables.tables (id, company_id, name, schema, metadata, row_events)
      values (
        ${tableId}, ${identity.companyId}, 'Deals', ${JSON.stringify({ columns })}, '{}',
        ${rowEvents}
      )
      returning key, company_id
    )
    insert into tables.table_states (table_key, company_id, max_rows)
    select key, company_id, ${maxRows}
    from "table"
  `);
  return rowTable(tableId, identity, clients);
}

/** Changes what a table says about itself, as the service does. */
export async function changeRowTable(
  { database }: Harness,
  tableId: string,
  { columns, rowEvents }: { columns: readonly Column[]; rowEvents: boolean },
): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query(sql.type(z.object({}))`
      update tables.table_states
      set schema_revision = schema_revision + 1
      where table_key = (select key from tables.tables where id = ${tableId})
    `);
    await transaction.query(sql.type(z.object({}))`
      update tables.tables
      set schema = ${JSON.stringify({ columns })}, row_events = ${rowEvents}
      where id = ${tableId}
    `);
  });
}

/** Deletes a table with its rows, as the service does. */
export async function deleteRowTable({ database }: Harness, tableId: string): Promise<void> {
  await database.transaction(async (transaction) => {
    const key = await transaction.oneFirst(sql.type(z.object({ key: z.number() }))`
      select key from tables.tables where id = ${tableId}
    `);
    await transaction.query(sql.type(z.object({}))`
      select from tables.table_states where table_key = ${key} for update
    `);
    await transaction.query(sql.type(z.object({}))`
      delete from tables.rows where table_key = ${key}
    `);
    await transaction.query(sql.type(z.object({}))`
      delete from tables.table_states where table_key = ${key}
    `);
    await transaction.query(sql.type(z.object({}))`
      delete from tables.tables where key = ${key}
    `);
  });
}

function rowTable(tableId: string, identity: Identity, { rows }: Pick<Clients, "rows">): RowTable {
  const insert = async (data: object): Promise<string> => {
    const row = await rows.insertRow(
      InsertRowRequest.create({ tableId, dataJson: JSON.stringify(data) }),
      { identity },
    );
    return row.id;
  };
  return {
    tableId,
    identity,
    insert,
    async insertAll(datas) {
      for (let start = 0; start < datas.length; start += 1_000) {
        const part = datas.slice(start, start + 1_000);
        const insertDataJson = part.map((data) => JSON.stringify(data));
        const batch = { tableId, insertDataJson, updates: [], deleteRowIds: [] };
        await rows.batchRows(batch, { identity });
      }
    },
    async query({ filter, sort = "", descending = false, limit = 100, offset = 0, show }) {
      const answer = await rows.queryRows(
        QueryRowsRequest.create({
          tableId,
          limit,
          offset,
          filterJson: filter === undefined ? "" : JSON.stringify(filter),
          sort,
          order: descending ? SortOrder.DESC : SortOrder.ASC,
          legacyFilter: false,
        }),
        { identity },
      );
      const values = answer.rows.map(({ dataJson }) => readMember(dataJson, show));
      return { values, total: answer.total };
    },
    at: (clients) => rowTable(tableId, identity, clients),
  };
}

function readMember(json: string, key: string): unknown {
  const data: unknown = JSON.parse(json);
  return isJsonObject(data) && Object.hasOwn(data, key) ? data[key] : null;
}
