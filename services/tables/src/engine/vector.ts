import { isBlank } from "../domain/cell-text.ts";
import type { Column, ColumnType } from "../domain/column.ts";
import type { Condition, ValueList } from "../domain/row-query.ts";
import { CELL, isFitting, isLong } from "./cell-state.ts";
import { keptOf, roomFor } from "./growable.ts";
import type { RowOrder } from "./row-order.ts";
import { finish } from "./steps.ts";
import type { SavedPart } from "./saved-part.ts";
import type { Steps } from "./steps.ts";
import { bytesOf, jsonOf, storedValue } from "./stored-value.ts";
import type { StoredValue } from "./stored-value.ts";

/**
 * The content of a vector: values of a column of this type, or of a key that no column declares.
 */
export type VectorType = ColumnType | "any";

/** A condition that examines values. */
export type TypedCondition = Exclude<Condition, { on: "blank" }>;

/**
 * The values of one key in all rows of a table, by row index. A filter takes a fraction of a millisecond over
 * 100,000 of them. Values have the form that `JSON.parse` returns; null, undefined and "" are blanks.
 * `createVector` makes vectors.
 */
export abstract class Vector {
  readonly type: VectorType;
  #length = 0;
  #states = new Uint8Array(0);
  /** The mistyped values. Few values are mistyped, so they need not be compact. */
  readonly #mistyped = new Map<number, StoredValue>();
  #mistypedBytes = 0;
  readonly #longRows = new Set<number>();

  constructor(type: VectorType) {
    this.type = type;
  }

  /** The number of rows in the vector. */
  get length(): number {
    return this.#length;
  }

  /** The estimated memory. It grows when queries need orders and search texts. */
  get bytes(): number {
    const maps = this.#mistyped.size * MISFIT_BYTES + this.#longRows.size * SET_ENTRY_BYTES;
    return this.#states.byteLength + this.#mistypedBytes + maps + this.valueBytes();
  }

  /** The state (CELL) of the value at each row. The array may be longer than the vector. */
  get states(): Uint8Array {
    return this.#states;
  }

  /** The rows with a fitting value that was cut. */
  get longRows(): ReadonlySet<number> {
    return this.#longRows;
  }

  /** Makes room for this many rows, so that the vector need not grow before. */
  reserve(rows: number): void {
    this.#states = roomFor(this.#states, rows, CELL.blank);
    this.makeRoom(rows);
  }

  /** Adds the values of new rows at the end. */
  append(values: readonly unknown[]): void {
    if (values.length === 0) return;
    this.reserve(this.#length + values.length);
    for (const value of values) {
      this.#length += 1;
      this.#put(this.#length - 1, value);
    }
  }

  /** Replaces the value of a row. An equal value costs nothing later. */
  set(index: number, value: unknown): void {
    if (index < 0 || index >= this.#length) throw new RangeError(`there is no row ${index}`);
    const mistyped = this.#mistyped.get(index);
    if (mistyped !== undefined) {
      this.#mistyped.delete(index);
      this.#mistypedBytes -= bytesOf(mistyped.text);
    }
    this.#longRows.delete(index);
    this.#put(index, value);
  }

  /** Whether the values are sorted already. */
  abstract get isOrdered(): boolean;

  /** Returns the vector as plain data, piece by piece. The vector must not change before the last piece. */
  *save(): Generator<SavedPart, void, undefined> {
    const { type, length } = this;
    const longRows = Int32Array.from(this.#longRows);
    yield { kind: "cells", type, length, states: this.#states.slice(0, length), longRows };
    const mistyped = [...this.#mistyped];
    for (let from = 0; from < mistyped.length; from += SAVED_VALUES) {
      yield { kind: "mistyped", values: mistyped.slice(from, from + SAVED_VALUES) };
    }
    yield* this.saveValues();
  }

  /** Adds one piece of a saved vector. A new vector has to get all pieces of one, in their order. */
  restore(part: SavedPart): void {
    switch (part.kind) {
      case "cells":
        this.#length = part.length;
        this.#states = part.states;
        for (const row of part.longRows) this.#longRows.add(row);
        break;
      case "mistyped":
        for (const [row, value] of part.values) this.#putMistyped(row, value);
        break;
      default:
        this.restoreValues(part);
    }
  }

  /** Does at once what `keepInSteps` does. */
  keep(indexes: Int32Array): void {
    finish(this.keepInSteps(indexes));
  }

  /**
   * Keeps only these rows, which are given in ascending order. They get new numbers from 0 on. Nobody may read the
   * vector between two steps.
   */
  *keepInSteps(indexes: Int32Array): Steps {
    const allMistyped = [...this.#mistyped];
    const longRows = [...this.#longRows];
    const places = new Map<number, number>();
    if (allMistyped.length > 0 || longRows.length > 0) {
      for (const [place, index] of indexes.entries()) places.set(index, place);
    }
    this.#mistyped.clear();
    this.#mistypedBytes = 0;
    for (const [index, value] of allMistyped) {
      const place = places.get(index);
      if (place !== undefined) this.#putMistyped(place, value);
    }
    this.#longRows.clear();
    for (const index of longRows) {
      const place = places.get(index);
      if (place !== undefined) this.#longRows.add(place);
    }
    this.#states = keptOf(this.#states, indexes);
    this.#length = indexes.length;
    yield;
    yield* this.keepValues(indexes);
  }

  /** Prepares `order` in steps. The vector may change between them. */
  abstract prepareOrder(): Steps;

  /** Clears the mask for rows that do not meet a condition. */
  narrow(condition: Condition, mask: Uint8Array): void {
    finish(this.narrowInSteps(condition, mask));
  }

  /** Does the same as `narrow`, in steps. */
  *narrowInSteps(condition: Condition, mask: Uint8Array): Steps {
    if (condition.on === "blank") this.#narrowToBlanks(condition, mask);
    else yield* this.narrowTyped(condition, mask);
  }

  #narrowToBlanks(condition: Extract<Condition, { on: "blank" }>, mask: Uint8Array): void {
    const states = this.#states;
    const wanted = condition.operator === "is_empty" ? 1 : 0;
    for (let row = 0; row < mask.length; row += 1) {
      if ((states[row] === CELL.blank ? 1 : 0) !== wanted) mask[row] = 0;
    }
  }

  /** Clears the mask for rows whose values a list leaves out. */
  *narrowToList({ excluded, values, blanks }: ValueList, mask: Uint8Array): Steps {
    const states = this.#states;
    const isListed = this.listTest(values);
    for (let row = 0; row < mask.length; row += 1) {
      if (row % LISTED_ROWS === LISTED_ROWS - 1) yield;
      if (mask[row] === 0) continue;
      const state = states[row] ?? CELL.blank;
      let listed: boolean;
      if (isFitting(state)) listed = !isLong(state) && isListed(row);
      else listed = state === CELL.blank ? blanks : this.#isMistypedListed(row, values);
      if (listed === excluded) mask[row] = 0;
    }
  }

  /** The value at a row that is not blank. */
  stored(row: number): StoredValue {
    return this.#mistyped.get(row) ?? this.fitting(row);
  }

  /** Whether a row has a value that does not fit the type. */
  get hasMistyped(): boolean {
    return this.#mistyped.size > 0;
  }

  /** The rows with a cut value, mistyped ones included. */
  cutRows(): number[] {
    const rows = [...this.#longRows];
    for (const [row, { long }] of this.#mistyped) if (long) rows.push(row);
    return rows;
  }

  /** The rows with fitting values in the order of the column. */
  abstract order(column: Column): RowOrder;

  /**
   * Stores a value that is not blank, when it fits.
   * @returns the state of the value; null when it does not fit
   */
  protected abstract putFitting(row: number, value: unknown): number | null;
  /** Stores that a row has a blank, or a mistyped value. */
  protected abstract putNothing(row: number): void;
  protected abstract makeRoom(length: number): void;
  protected abstract keepValues(indexes: Int32Array): Steps;
  /** Gives the fitting values as pieces. */
  protected abstract saveValues(): Generator<SavedPart, void, undefined>;
  /** Takes in a piece that `saveValues` has given. */
  protected abstract restoreValues(part: SavedPart): void;
  protected abstract narrowTyped(condition: TypedCondition, mask: Uint8Array): Steps;
  /**
   * Makes a test whether the value at a row, which must fit, is one of these canonical JSON texts.
   */
  protected abstract listTest(values: ReadonlySet<string>): (row: number) => boolean;
  protected abstract fitting(row: number): StoredValue;
  protected abstract valueBytes(): number;

  #put(row: number, value: unknown): void {
    if (isBlank(value)) {
      this.#states[row] = CELL.blank;
      this.putNothing(row);
      return;
    }
    const state = this.putFitting(row, value);
    this.#states[row] = state ?? CELL.mistyped;
    if (state === null) {
      this.putNothing(row);
      this.#putMistyped(row, storedValue(value));
    } else if (isLong(state)) {
      this.#longRows.add(row);
    }
  }

  #putMistyped(row: number, value: StoredValue): void {
    this.#mistyped.set(row, value);
    this.#mistypedBytes += bytesOf(value.text);
  }

  #isMistypedListed(row: number, values: ReadonlySet<string>): boolean {
    const value = this.#mistyped.get(row);
    return value !== undefined && !value.long && values.has(jsonOf(value));
  }
}

/** The rows that one step looks up in a list. Their texts may be long. */
const LISTED_ROWS = 4_096;
/** Values, of at most 2,000 characters each, that one piece has. */
const SAVED_VALUES = 1_024;
/** A member of a map, and the object that it holds. */
const MISFIT_BYTES = 100;
const SET_ENTRY_BYTES = 32;
