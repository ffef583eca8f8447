import { expect } from "@jest/globals";
import {
  MeasureFunction,
  DeleteRowRequest,
  InsertRowRequest,
  UpdateRowRequest,
} from "@workflow/proto/tables/v1/rows";
import type { Clients } from "./harness.ts";
import type { RowTable } from "./row-table.ts";

/** What one writer, who alone writes the rows of his name, knows to be in a table. */
export class TableModel {
  readonly #table: RowTable;
  readonly #owner: string;
  readonly #amounts = new Map<string, number>();
  readonly #random: () => number;

  constructor(table: RowTable, owner: string, random: () => number) {
    this.#table = table;
    this.#owner = owner;
    this.#random = random;
  }

  /** Makes a change by one process and remembers it once it was confirmed. */
  async change({ rows }: Pick<Clients, "rows">): Promise<void> {
    const { tableId, identity } = this.#table;
    const rowId = this.#pick();
    const amount = this.#amount();
    const dataJson = this.#data(amount);
    const kind = this.#random();
    if (rowId === undefined || kind < 0.35) {
      const { id } = await rows.insertRow(InsertRowRequest.create({ tableId, dataJson }), {
        identity,
      });
      this.#amounts.set(id, amount);
    } else if (kind < 0.55) {
      await rows.updateRow(UpdateRowRequest.create({ tableId, rowId, dataJson, merge: false }), {
        identity,
      });
      this.#amounts.set(rowId, amount);
    } else if (kind < 0.65) {
      const part = JSON.stringify({ amount });
      await rows.updateRow(
        UpdateRowRequest.create({ tableId, rowId, dataJson: part, merge: true }),
        { identity },
      );
      this.#amounts.set(rowId, amount);
    } else if (kind < 0.85) {
      await rows.deleteRow(DeleteRowRequest.create({ tableId, rowId }), { identity });
      this.#amounts.delete(rowId);
    } else {
      await this.#batch({ rows }, rowId, amount);
    }
  }

  /** Fails unless a process answers with exactly what was confirmed. */
  async check({ rows }: Pick<Clients, "rows">): Promise<void> {
    const { tableId, identity } = this.#table;
    const amounts = [...this.#amounts.values()].toSorted((a, b) => a - b);
    const filter = { name: { condition: { operator: "equals", value: this.#owner } } };
    const filterJson = JSON.stringify(filter);
    const page = await this.#table.at({ rows }).query({ filter, sort: "amount", show: "amount" });
    expect(page).toEqual({ values: amounts.slice(0, 100), total: amounts.length });
    if (this.#random() < 0.7) return;
    const measures = [
      { function: MeasureFunction.COUNT, columnId: "" },
      { function: MeasureFunction.SUM, columnId: "amount" },
    ];
    const { groups } = await rows.aggregateRows(
      { tableId, filterJson, groupBy: "", measures },
      { identity },
    );
    const sum = amounts.reduce((total, amount) => total + amount, 0);
    expect(groups.map(({ valuesJson }) => valuesJson)).toEqual([[`${amounts.length}`, `${sum}`]]);
    const { values } = await rows.listDistinctValues(
      { tableId, columnId: "amount", filterJson, search: "", legacyFilter: false, limit: 500 },
      { identity },
    );
    expect(values.map(({ valueJson }) => Number(valueJson))).toEqual([...new Set(amounts)]);
  }

  /** Takes over what is stored, when nobody knows what became of a change. */
  relearn(rows: readonly { id: string; amount: number }[]): void {
    this.#amounts.clear();
    for (const { id, amount } of rows) this.#amounts.set(id, amount);
  }

  async #batch({ rows }: Pick<Clients, "rows">, rowId: string, amount: number): Promise<void> {
    const { tableId, identity } = this.#table;
    const others = [...this.#amounts.keys()].filter((id) => id !== rowId).slice(0, 2);
    const added = [this.#amount(), this.#amount(), this.#amount()];
    const { inserted } = await rows.batchRows(
      {
        tableId,
        insertDataJson: added.map((each) => this.#data(each)),
        updates: [{ rowId, dataJson: this.#data(amount) }],
        deleteRowIds: others,
      },
      { identity },
    );
    this.#amounts.set(rowId, amount);
    for (const id of others) this.#amounts.delete(id);
    for (const [place, { id }] of inserted.entries()) this.#amounts.set(id, added[place] ?? 0);
  }

  #data(amount: number): string {
    return JSON.stringify({ name: this.#owner, amount });
  }

  #amount(): number {
    return Math.floor(this.#random() * 40);
  }

  #pick(): string | undefined {
    const ids = [...this.#amounts.keys()];
    return ids[Math.floor(this.#random() * ids.length)];
  }
}

/** Numbers from 0 up to 1 that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
