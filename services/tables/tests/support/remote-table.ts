import { isAppError } from "@workflow/errors";
import type { JsonObject } from "@workflow/json";
import {
  AggregateRowsRequest,
  BatchRowsRequest,
  DeleteRowRequest,
  InsertRowRequest,
  ListDistinctValuesRequest,
  MeasureFunction,
  QueryRowsRequest,
  SortOrder,
  UpdateRowRequest,
} from "@workflow/proto/tables/v1/rows";
import { CreateTableRequest, UpdateTableRequest } from "@workflow/proto/tables/v1/tables";
import type { Identity } from "@workflow/rpc";
import type { Column } from "../../src/domain/column.ts";
import type { Clients } from "./harness.ts";
import { REFUSED } from "./oracle.ts";
import type { OracleMeasure, OracleRow, OracleTable } from "./oracle.ts";
import type { RandomQuery } from "./random-query.ts";
import { randomColumnType, randomColumns, randomData } from "./random-values.ts";
import type { Random } from "./random-values.ts";

/** A table of the real service, and beside it what its rows must be. */
export class RemoteTable implements OracleTable {
  columns: readonly Column[];
  rows: (OracleRow & { id: string })[] = [];
  readonly #tableId: string;
  readonly #identity: Identity;

  private constructor(tableId: string, identity: Identity, columns: readonly Column[]) {
    this.#tableId = tableId;
    this.#identity = identity;
    this.columns = columns;
  }

  static async create({ tables }: Clients, identity: Identity, random: Random) {
    const columns = randomColumns(random);
    const request = { name: "Random", schemaJson: JSON.stringify({ columns }) };
    const { id } = await tables.createTable(CreateTableRequest.create(request), { identity });
    return new RemoteTable(id, identity, columns);
  }

  /** Adds, changes or deletes rows, or changes the type of a column. */
  async change(random: Random, clients: Clients): Promise<void> {
    const kind = random.next();
    if (kind < 0.3) return this.#insert(random, clients);
    if (kind < 0.55) return this.#update(random, clients);
    if (kind < 0.7) return this.#delete(random, clients);
    if (kind < 0.95) return this.#batch(random, clients);
    return this.#changeColumn(random, clients);
  }

  /** What the service answers, in the oracle's form. */
  async ask({ rows }: Clients, query: RandomQuery): Promise<unknown> {
    const tableId = this.#tableId;
    const options = { identity: this.#identity };
    const filterJson = JSON.stringify(query.filter);
    switch (query.kind) {
      case "rows": {
        const { legacy: legacyFilter, limit, offset, sort, descending } = query;
        const order = descending ? SortOrder.DESC : SortOrder.ASC;
        const page = { tableId, limit, offset, order };
        const answer = await rows.queryRows(
          QueryRowsRequest.create({ ...page, filterJson, legacyFilter, sort: sort ?? "" }),
          options,
        );
        const positions = answer.rows.map(({ position }) => position);
        return { total: answer.total, positions };
      }
      case "distinct": {
        const { legacy: legacyFilter, columnId, search, limit } = query;
        const request = { tableId, filterJson, legacyFilter, columnId, search, limit };
        const { values, truncated } = await rows.listDistinctValues(
          ListDistinctValuesRequest.create(request),
          options,
        );
        return {
          values: values.map(({ valueJson, label, count }) => ({ valueJson, label, count })),
          truncated,
        };
      }
      case "aggregate": {
        const measures = query.measures.map((measure) => ({
          function: FUNCTIONS[measure.function],
          columnId: measure.column ?? "",
        }));
        const request = { tableId, filterJson, groupBy: query.groupBy ?? "", measures };
        try {
          const { groups } = await rows.aggregateRows(
            AggregateRowsRequest.create(request),
            options,
          );
          return groups.map(({ keyJson, valuesJson }) => ({ keyJson, valuesJson }));
        } catch (error) {
          if (isAppError(error) && error.reason === "BAD_REQUEST") return REFUSED;
          throw error;
        }
      }
    }
  }

  async #insert(random: Random, { rows }: Clients): Promise<void> {
    const data = randomData(random, this.columns);
    const request = { tableId: this.#tableId, dataJson: JSON.stringify(data) };
    const row = await rows.insertRow(InsertRowRequest.create(request), {
      identity: this.#identity,
    });
    this.#add(row, data);
  }

  async #update(random: Random, { rows }: Clients): Promise<void> {
    if (this.rows.length === 0) return;
    const row = random.pick(this.rows);
    const data = randomData(random, this.columns);
    const merge = random.chance(0.5);
    const dataJson = JSON.stringify(data);
    const request = { tableId: this.#tableId, rowId: row.id, dataJson, merge };
    await rows.updateRow(UpdateRowRequest.create(request), { identity: this.#identity });
    this.#replace(row.id, merge ? { ...row.data, ...data } : data);
  }

  async #delete(random: Random, { rows }: Clients): Promise<void> {
    if (this.rows.length === 0) return;
    const { id: rowId } = random.pick(this.rows);
    const request = { tableId: this.#tableId, rowId };
    await rows.deleteRow(DeleteRowRequest.create(request), { identity: this.#identity });
    this.#remove(rowId);
  }

  async #batch(random: Random, { rows }: Clients): Promise<void> {
    const inserts = Array.from({ length: 1 + random.below(12) }, () =>
      randomData(random, this.columns),
    );
    const updates: { rowId: string; data: JsonObject }[] = [];
    const deleteRowIds: string[] = [];
    for (const { id } of this.rows) {
      const fate = random.next();
      if (fate < 0.1) updates.push({ rowId: id, data: randomData(random, this.columns) });
      else if (fate < 0.2) deleteRowIds.push(id);
    }
    const { inserted } = await rows.batchRows(
      BatchRowsRequest.create({
        tableId: this.#tableId,
        insertDataJson: inserts.map((data) => JSON.stringify(data)),
        updates: updates.map(({ rowId, data }) => ({ rowId, dataJson: JSON.stringify(data) })),
        deleteRowIds,
      }),
      { identity: this.#identity },
    );
    for (const [index, data] of inserts.entries()) this.#add(inserted[index], data);
    for (const { rowId, data } of updates) this.#replace(rowId, data);
    for (const rowId of deleteRowIds) this.#remove(rowId);
  }

  async #changeColumn(random: Random, { tables }: Clients): Promise<void> {
    const changed = random.pick(this.columns);
    this.columns = this.columns.map((column) =>
      column === changed ? { ...column, ...randomColumnType(random) } : column,
    );
    const request = {
      tableId: this.#tableId,
      schemaJson: JSON.stringify({ columns: this.columns }),
    };
    await tables.updateTable(UpdateTableRequest.create(request), { identity: this.#identity });
  }

  #add(row: { id: string; position?: number | undefined } | undefined, data: JsonObject): void {
    if (row?.position === undefined) throw new Error("A new row has no position.");
    this.rows.push({ id: row.id, position: row.position, data });
  }

  #replace(id: string, data: JsonObject): void {
    this.rows = this.rows.map((row) => (row.id === id ? { ...row, data } : row));
  }

  #remove(id: string): void {
    this.rows = this.rows.filter((row) => row.id !== id);
  }
}

const FUNCTIONS: Readonly<Record<OracleMeasure["function"], MeasureFunction>> = {
  count: MeasureFunction.COUNT,
  sum: MeasureFunction.SUM,
  avg: MeasureFunction.AVG,
  min: MeasureFunction.MIN,
  max: MeasureFunction.MAX,
};
