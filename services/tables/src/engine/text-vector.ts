import type { Column } from "../domain/column.ts";
import { CELL, isLong, holdsString } from "./cell-state.ts";
import { Dictionary } from "./dictionary.ts";
import { roomFor } from "./growable.ts";
import { orderByRank } from "./row-order.ts";
import type { RowOrder } from "./row-order.ts";
import type { SavedDictionary, SavedPart } from "./saved-part.ts";
import type { Steps } from "./steps.ts";
import { keptText, storedValue } from "./stored-value.ts";
import type { StoredValue } from "./stored-value.ts";
import { TextEntries } from "./text-entries.ts";
import type { TextMatch } from "./text-search.ts";
import { Vector } from "./vector.ts";
import type { TypedCondition, VectorType } from "./vector.ts";

/** The types of vectors whose values are texts. */
export type TextualType = Exclude<VectorType, "number" | "date" | "boolean">;

/** Up to this number of different texts, a vector always has a dictionary. */
const DICTIONARY_ENTRIES = 4_096;
/** Beyond that number, a vector has a dictionary only with this many rows for each text. */
const ROWS_PER_ENTRY = 4;
/** Rows that are taken over in one step when others go. */
const KEPT_ROWS = 4_096;
/** Texts, of at most 2,000 characters each, that one piece has. */
const SAVED_TEXTS = 1_024;

/**
 * Texts, and in JSON columns the texts of all values. While few texts differ, rows hold entry numbers of a
 * dictionary, and an operator examines each text once. When most texts differ, the vector drops the dictionary, and
 * each row is an entry of its own.
 */
export class TextVector extends Vector {
  readonly #takesAll: boolean;
  #entries = new TextEntries();
  #dictionary: Dictionary | null;
  /** With a dictionary: the entry of each row. Entry 0 stands for a value that does not fit. */
  #codes = new Int32Array(0);
  #order: { key: string; order: RowOrder } | null = null;
  /** Entries that were taken back from a saved vector. */
  #restored = 0;

  constructor(type: TextualType) {
    super(type);
    this.#takesAll = type === "json" || type === "any";
    this.#dictionary = new Dictionary(this.#entries);
  }

  /**
   * Whether rows of equal text may hold different values: a string, and another value that is written like it.
   */
  get takesAll(): boolean {
    return this.#takesAll;
  }

  /** Whether operators must examine each row's own text. */
  get isSpelledOut(): boolean {
    return this.#dictionary === null;
  }

  override order(column: Column): RowOrder {
    const options = column.type === "select" ? (column.options ?? []) : [];
    if (this.#dictionary === null && options.length === 0) return this.#entries.order.current();
    const key = JSON.stringify(options);
    if (this.#order?.key !== key) {
      const { ranks, rankCount } = this.#ranks(options);
      this.#order = { key, order: orderByRank(ranks, rankCount) };
    }
    return this.#order.order;
  }

  protected override putFitting(row: number, value: unknown): number | null {
    if (typeof value !== "string" && !this.#takesAll) return null;
    const { text, isString, long } = storedValue(value);
    this.#putText(row, text);
    return (isString ? CELL.fits : CELL.structure) | (long ? CELL.long : 0);
  }

  protected override putNothing(row: number): void {
    this.#putText(row, "");
  }

  protected override makeRoom(length: number): void {
    if (this.#dictionary !== null) this.#codes = roomFor(this.#codes, length, 0);
    this.#order = null;
  }

  protected override *keepValues(indexes: Int32Array): Steps {
    const entries = this.#entries;
    const kept = new TextEntries();
    const dictionary = this.#dictionary === null ? null : new Dictionary(kept);
    const codes = new Int32Array(dictionary === null ? 0 : indexes.length);
    for (const [place, row] of indexes.entries()) {
      if (place % KEPT_ROWS === KEPT_ROWS - 1) yield;
      const text = entries.textAt(this.#entryOf(row));
      if (dictionary === null) kept.put(place, text);
      else codes[place] = dictionary.take(text);
    }
    this.#order = null;
    this.#entries = kept;
    this.#codes = codes;
    this.#dictionary = dictionary;
  }

  override get isOrdered(): boolean {
    return this.#entries.order.isMade;
  }

  protected override *saveValues(): Generator<SavedPart, void, undefined> {
    const entries = this.#entries;
    const codes = this.#codes.slice(0, this.length);
    const dictionary = this.#dictionary === null ? null : { codes, ...this.#dictionary.saved() };
    yield { kind: "texts", dictionary };
    for (let from = 0; from < entries.length; from += SAVED_TEXTS) {
      yield { kind: "entries", texts: entries.slice(from, from + SAVED_TEXTS) };
    }
    // Last, since entries that are given back count as changed.
    yield { kind: "order", order: entries.order.saved() };
  }

  protected override restoreValues(part: SavedPart): void {
    switch (part.kind) {
      case "texts":
        this.#restoreCodes(part.dictionary);
        break;
      case "entries":
        this.#restoreTexts(part.texts);
        break;
      case "order":
        this.#entries.order.restore(part.order);
        break;
      default:
        throw new TypeError(`Texts are not saved as ${part.kind}.`);
    }
  }

  #restoreCodes(saved: SavedDictionary | null): void {
    this.#entries = new TextEntries();
    this.#dictionary = saved === null ? null : Dictionary.of(this.#entries, saved);
    if (saved !== null) this.#codes = saved.codes;
    this.#restored = 0;
  }

  #restoreTexts(texts: readonly string[]): void {
    for (const text of texts) {
      if (this.#dictionary === null) this.#entries.put(this.#restored, text);
      else this.#dictionary.restore(this.#restored, text);
      this.#restored += 1;
    }
  }

  override prepareOrder(): Steps {
    return this.#entries.order.prepare();
  }

  protected override *narrowTyped(condition: TypedCondition, mask: Uint8Array): Steps {
    const negated = condition.operator.startsWith("not_");
    if (condition.on !== "text") {
      if (!negated) mask.fill(0);
      return;
    }
    const match = TEXT_MATCHES[condition.operator];
    const { search } = this.#entries;
    if (this.#dictionary === null) {
      yield* search.narrow(match, condition.value, negated, mask);
      return;
    }
    const passing = new Uint8Array(this.#entries.length).fill(1);
    yield* search.narrow(match, condition.value, negated, passing);
    const codes = this.#codes;
    for (let row = 0; row < mask.length; row += 1) {
      mask[row] = (mask[row] ?? 0) & (passing[codes[row] ?? 0] ?? 0);
    }
  }

  protected override listTest(values: ReadonlySet<string>): (row: number) => boolean {
    const texts = new Set<string>();
    for (const json of values) {
      const value: unknown = JSON.parse(json);
      if (typeof value === "string") texts.add(value);
    }
    const isListed = (row: number) => {
      const text = this.#entries.textAt(this.#entryOf(row));
      return this.states[row] === CELL.structure ? values.has(text) : texts.has(text);
    };
    return this.#dictionary === null || this.#takesAll
      ? isListed
      : this.#listTestByCode(this.#dictionary, texts);
  }

  protected override fitting(row: number): StoredValue {
    const state = this.states[row] ?? CELL.blank;
    return {
      text: this.#entries.textAt(this.#entryOf(row)),
      isString: holdsString(state),
      long: isLong(state),
    };
  }

  protected override valueBytes(): number {
    const order = this.#order === null ? 0 : this.#order.order.rows.length * ORDER_BYTES;
    const dictionary = this.#dictionary?.bytes ?? 0;
    return this.#entries.bytes + this.#codes.byteLength + dictionary + order;
  }

  #entryOf(row: number): number {
    return this.#dictionary === null ? row : (this.#codes[row] ?? 0);
  }

  #putText(row: number, text: string): void {
    const dictionary = this.#dictionary;
    if (dictionary === null) {
      if (this.#entries.textAt(row) !== text) this.#order = null;
      this.#entries.put(row, text);
      return;
    }
    const before = this.#codes[row] ?? 0;
    const code = dictionary.take(text);
    dictionary.release(before);
    if (code !== before) this.#order = null;
    this.#codes[row] = code;
    const rowsMin = dictionary.size * ROWS_PER_ENTRY;
    if (dictionary.size > DICTIONARY_ENTRIES && this.length < rowsMin) this.#spellOut();
  }

  /** Makes each row an entry of its own. */
  #spellOut(): void {
    const entries = this.#entries;
    const spelledOut = new TextEntries();
    for (let row = 0; row < this.length; row += 1) {
      spelledOut.put(row, entries.textAt(this.#codes[row] ?? 0));
    }
    this.#entries = spelledOut;
    this.#dictionary = null;
    this.#codes = new Int32Array(0);
    this.#order = null;
  }

  #listTestByCode(dictionary: Dictionary, texts: ReadonlySet<string>): (row: number) => boolean {
    const listed = new Uint8Array(this.#entries.length);
    for (const text of texts) {
      const code = dictionary.find(text);
      if (code !== undefined) listed[code] = 1;
    }
    const codes = this.#codes;
    return (row) => listed[codes[row] ?? 0] === 1;
  }

  /**
   * The places of the rows' texts. The options come first in their order, then other texts in the order of texts.
   */
  #ranks(options: readonly string[]): { ranks: Int32Array; rankCount: number } {
    const entries = this.#entries;
    const { rows, begins } = entries.order.current();
    const places = placesOf(options);
    const entryRanks = new Int32Array(entries.length).fill(-1);
    let rank = options.length - 1;
    for (const [place, entry] of rows.entries()) {
      rank += begins[place] ?? 0;
      entryRanks[entry] = places.get(entries.textAt(entry)) ?? rank;
    }
    const rankCount = rank + 1;
    if (this.#dictionary === null) return { ranks: entryRanks, rankCount };
    const ranks = new Int32Array(this.length);
    const codes = this.#codes;
    for (let row = 0; row < ranks.length; row += 1) ranks[row] = entryRanks[codes[row] ?? 0] ?? -1;
    return { ranks, rankCount };
  }
}

/**
 * The place of each option's kept text, because rows have no more. The first of several options with one kept text
 * counts.
 */
function placesOf(options: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  for (const [place, option] of options.entries()) {
    const text = keptText(option);
    if (!places.has(text)) places.set(text, place);
  }
  return places;
}

const ORDER_BYTES = Int32Array.BYTES_PER_ELEMENT + Uint8Array.BYTES_PER_ELEMENT;

const TEXT_MATCHES = {
  contains: "contains",
  not_contains: "contains",
  equals: "equals",
  not_equals: "equals",
  starts_with: "starts_with",
  ends_with: "ends_with",
} as const satisfies Record<string, TextMatch>;
