import type { ColumnType } from "../domain/column.ts";
import type { StoredValue } from "./stored-value.ts";

/** An order as plain data, and which indexes it has not taken in. */
export interface SavedOrder {
  readonly rows: Int32Array<ArrayBuffer>;
  readonly begins: Uint8Array<ArrayBuffer>;
  /** How many indexes it knows. */
  readonly seen: number;
  /** Indexes below `seen` whose values have changed since. */
  readonly changed: readonly number[];
}

/**
 * A piece of a vector as plain data. Pieces are small enough for one step each; `Vector.restore` takes them in the
 * order in which `Vector.save` gives them. They share no memory with the vector.
 */
export type SavedPart =
  | {
      readonly kind: "cells";
      readonly type: ColumnType | "any";
      readonly length: number;
      readonly states: Uint8Array<ArrayBuffer>;
      readonly longRows: Int32Array<ArrayBuffer>;
    }
  | { readonly kind: "mistyped"; readonly values: readonly (readonly [number, StoredValue])[] }
  | {
      readonly kind: "numbers";
      readonly values: Float64Array<ArrayBuffer>;
      readonly order: SavedOrder | null;
    }
  | {
      readonly kind: "texts";
      /** Null when each row has a text of its own. */
      readonly dictionary: SavedDictionary | null;
    }
  | { readonly kind: "entries"; readonly texts: readonly string[] }
  | { readonly kind: "order"; readonly order: SavedOrder | null };

/** The entries that rows refer to, without their texts. */
export interface SavedDictionary {
  /** The entry of each row. */
  readonly codes: Int32Array<ArrayBuffer>;
  /** How many rows use each entry. */
  readonly uses: Int32Array<ArrayBuffer>;
  /** Entries that no row uses. */
  readonly free: Int32Array<ArrayBuffer>;
}
