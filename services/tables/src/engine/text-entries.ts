import { compareTexts } from "./collation.ts";
import { LivingOrder } from "./row-order.ts";
import type { Sortable } from "./row-order.ts";
import { bytesOf } from "./stored-value.ts";
import { TextSearch } from "./text-search.ts";
import { sortTexts } from "./text-sort.ts";

/** A list of texts for searching and sorting; "" stands for a missing text. */
export class TextEntries {
  readonly #texts: string[] = [];
  readonly search = new TextSearch(this.#texts);
  readonly order: LivingOrder;
  #textBytes = 0;

  constructor() {
    const texts = this.#texts;
    this.order = new LivingOrder(sortableOf(texts, () => sortableOf([...texts])));
  }

  get length(): number {
    return this.#texts.length;
  }

  /** The estimated memory of the texts and of the indexes on them. */
  get bytes(): number {
    const pointers = this.#texts.length * POINTER_BYTES;
    return pointers + this.#textBytes + this.search.bytes + this.order.bytes;
  }

  textAt(entry: number): string {
    return this.#texts[entry] ?? "";
  }

  /** The texts of some entries, in their order. */
  slice(from: number, to: number): readonly string[] {
    return this.#texts.slice(from, to);
  }

  /** Replaces the text of an entry, or adds one at the end. */
  put(entry: number, text: string): void {
    const before = this.#texts[entry];
    if (before === text) return;
    this.#textBytes += occupiedBy(text) - occupiedBy(before ?? "");
    this.#texts[entry] = text;
    this.search.changed(entry);
    this.order.changed(entry);
  }
}

function sortableOf(texts: readonly string[], frozen?: () => Sortable): Sortable {
  return {
    get length() {
      return texts.length;
    },
    has: (entry) => texts[entry] !== "",
    compare: (a, b) => compareTexts(texts[a] ?? "", texts[b] ?? ""),
    sort: (entries) => sortTexts(texts, entries),
    ...(frozen === undefined ? {} : { frozen }),
  };
}

const POINTER_BYTES = 8;

/** All empty texts are one string. */
function occupiedBy(text: string): number {
  return text === "" ? 0 : bytesOf(text);
}
