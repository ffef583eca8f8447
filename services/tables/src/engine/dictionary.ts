import type { SavedDictionary } from "./saved-part.ts";
import type { TextEntries } from "./text-entries.ts";

/**
 * Gives each different text one entry of a list for as long as the text is in use. Entry 0 is "".
 */
export class Dictionary {
  readonly #entries: TextEntries;
  readonly #codes = new Map<string, number>();
  #uses: number[] = [];
  #free: number[] = [];

  /** @param entries an empty list, which belongs to the dictionary from now on */
  constructor(entries: TextEntries) {
    this.#entries = entries;
    entries.put(0, "");
    this.#uses.push(0);
  }

  /** The number of different texts in use. */
  get size(): number {
    return this.#codes.size;
  }

  /** The estimated memory of the dictionary, without its entries. */
  get bytes(): number {
    return this.#uses.length * USE_BYTES + this.#codes.size * MEMBER_BYTES;
  }

  /** A dictionary as it was saved, whose texts are still to be given back to it (`restore`). */
  static of(entries: TextEntries, { uses, free }: Omit<SavedDictionary, "codes">): Dictionary {
    const dictionary = new Dictionary(entries);
    dictionary.#uses = Array.from(uses);
    dictionary.#free = Array.from(free);
    return dictionary;
  }

  /** What it takes to restore it, beside the rows and texts. */
  saved(): Omit<SavedDictionary, "codes"> {
    return { uses: Int32Array.from(this.#uses), free: Int32Array.from(this.#free) };
  }

  /** Gives an entry its text back. */
  restore(code: number, text: string): void {
    this.#entries.put(code, text);
    if (text !== "") this.#codes.set(text, code);
  }

  /** The entry of a text that is in use. */
  find(text: string): number | undefined {
    return this.#codes.get(text);
  }

  /** The entry for one more use of a text. */
  take(text: string): number {
    if (text === "") return 0;
    let code = this.#codes.get(text);
    if (code === undefined) {
      code = this.#free.pop() ?? this.#entries.length;
      this.#codes.set(text, code);
      this.#uses[code] = 0;
    }
    this.#entries.put(code, text);
    this.#uses[code] = (this.#uses[code] ?? 0) + 1;
    return code;
  }

  /** Ends one use of an entry. */
  release(code: number): void {
    if (code === 0) return;
    const uses = (this.#uses[code] ?? 1) - 1;
    this.#uses[code] = uses;
    if (uses > 0) return;
    this.#codes.delete(this.#entries.textAt(code));
    this.#entries.put(code, "");
    this.#free.push(code);
  }
}

const USE_BYTES = 8;
const MEMBER_BYTES = 48;
