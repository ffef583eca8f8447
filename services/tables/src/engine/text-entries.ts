import { compareTexts } from "./collation.ts";
import { LivingOrder } from "./row-order.ts";
import { bytesOf } from "./stored-value.ts";
import { TextSearch } from "./text-search.ts";
import { sortTexts } from "./text-sort.ts";

/** A list of texts that is searched and ordered; "" where there is none. */
export class TextEntries {
  readonly #texts: string[] = [];
  /** Of JSON that is written otherwise than its canonical form. */
  readonly #canonicals: (string | undefined)[] = [];
  readonly search = new TextSearch(this.#texts);
  readonly order: LivingOrder;
  #textBytes = 0;

  constructor() {
    const texts = this.#texts;
    this.order = new LivingOrder({
      get length() {
        return texts.length;
      },
      has: (entry) => texts[entry] !== "",
      compare: (a, b) => compareTexts(texts[a] ?? "", texts[b] ?? ""),
      sort: (entries) => sortTexts(texts, entries),
    });
  }

  get length(): number {
    return this.#texts.length;
  }

  /** Estimate of the memory that the texts, and what speeds up their use, occupy. */
  get bytes(): number {
    const pointers = this.#texts.length + this.#canonicals.length;
    return pointers * POINTER_BYTES + this.#textBytes + this.search.bytes + this.order.bytes;
  }

  textAt(entry: number): string {
    return this.#texts[entry] ?? "";
  }

  /** As JSON that is the same for equal values, when the entry's text is JSON. */
  canonicalAt(entry: number): string {
    return this.#canonicals[entry] ?? this.textAt(entry);
  }

  /** Puts a text in an entry's place, or at the end; `canonical` is the text itself when they are the same. */
  put(entry: number, text: string, canonical: string): void {
    const before = this.#texts[entry];
    // The canonical form depends on the text alone; but a string may look like JSON.
    if (canonical !== text) this.#putCanonical(entry, canonical);
    if (before === text) return;
    if (canonical === text) this.#dropCanonical(entry);
    this.#textBytes += occupiedBy(text) - occupiedBy(before ?? "");
    this.#texts[entry] = text;
    this.search.changed(entry);
    this.order.changed(entry);
  }

  #putCanonical(entry: number, canonical: string): void {
    this.#dropCanonical(entry);
    this.#canonicals[entry] = canonical;
    this.#textBytes += bytesOf(canonical);
  }

  #dropCanonical(entry: number): void {
    const canonical = this.#canonicals[entry];
    if (canonical === undefined) return;
    this.#canonicals[entry] = undefined;
    this.#textBytes -= bytesOf(canonical);
  }
}

const POINTER_BYTES = 8;

/** All empty texts are one string. */
function occupiedBy(text: string): number {
  return text === "" ? 0 : bytesOf(text);
}
