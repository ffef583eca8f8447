import { fold } from "../domain/fold.ts";
import type { Steps } from "./steps.ts";
import { bytesOf } from "./stored-value.ts";

/** Texts are searched in joined chunks of 1,024, so one `indexOf` replaces a thousand. */
const CHUNK_BITS = 10;
/** With fewer candidates than this in a chunk, each text is examined by itself. */
const FEW = 32;
const SEPARATOR = "\0";

/** The way in which a text must match the needle. Both are folded. */
export type TextMatch = "contains" | "equals" | "starts_with" | "ends_with";

interface Chunk {
  /** A separator, and each folded text followed by a separator. */
  readonly joined: string;
  /** The place where each text begins, and the end of the last one. */
  readonly starts: Int32Array;
}

/** A search whose text is folded as the texts are. */
interface FoldedSearch {
  readonly match: TextMatch;
  readonly needle: string;
  readonly negated: boolean;
}

/**
 * Searches a growing list of texts without regard to case. Chunks are joined at their first search, and again after
 * one of their texts has changed. 100,000 texts of 40 characters take 3 ms; `includes` on each takes 8.
 */
export class TextSearch {
  readonly #texts: readonly string[];
  readonly #chunks: (Chunk | undefined)[] = [];
  #bytes = 0;

  /** @param texts the list, which may grow and change; every change needs a call of `changed` */
  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /** The estimated memory of the joined chunks. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Notes that the text at this index is new or was replaced. */
  changed(index: number): void {
    const place = index >>> CHUNK_BITS;
    const chunk = this.#chunks[place];
    if (chunk === undefined) return;
    this.#bytes -= chunkBytes(chunk);
    this.#chunks[place] = undefined;
  }

  /**
   * Clears the mask for texts that do not match, or with `negated` for those that do. The empty text matches
   * nothing. A step is a chunk.
   */
  *narrow(match: TextMatch, text: string, negated: boolean, mask: Uint8Array): Steps {
    const needle = fold(text);
    const search: FoldedSearch = { match, needle, negated };
    let candidate = mask.indexOf(1);
    while (candidate !== -1 && candidate < this.#texts.length) {
      const place = candidate >>> CHUNK_BITS;
      const end = Math.min((place + 1) << CHUNK_BITS, this.#texts.length);
      const few = candidatesUpTo(mask, candidate, end);
      if (few === null && !needle.includes(SEPARATOR)) {
        this.#narrowChunk(place, search, mask.subarray(place << CHUNK_BITS, end));
      } else {
        for (const index of few ?? indexesFrom(candidate, end)) {
          if (matches(match, this.#texts[index] ?? "", needle) === negated) mask[index] = 0;
        }
      }
      candidate = mask.indexOf(1, end);
      yield;
    }
  }

  #narrowChunk(place: number, { match, needle, negated }: FoldedSearch, mask: Uint8Array): void {
    const { joined, starts } = this.#chunkAt(place);
    const before = match === "equals" || match === "starts_with" ? SEPARATOR : "";
    const after = match === "equals" || match === "ends_with" ? SEPARATOR : "";
    const pattern = before + needle + after;
    // The empty text matches nothing, although every text holds an empty needle.
    if (needle === "") {
      narrowToEmptyNeedle(match, negated, starts, mask);
      return;
    }
    let row = 0;
    let kept = 0;
    let found = joined.indexOf(pattern);
    while (found !== -1) {
      const at = found + before.length;
      while ((starts[row + 1] ?? 0) <= at) row += 1;
      if (negated) {
        mask[row] = 0;
      } else {
        if (kept < row) mask.fill(0, kept, row);
        kept = row + 1;
      }
      // The next match may begin with the separator before the next text.
      found = joined.indexOf(pattern, (starts[row + 1] ?? 0) - before.length);
    }
    if (!negated) mask.fill(0, kept);
  }

  #chunkAt(place: number): Chunk {
    const known = this.#chunks[place];
    if (known !== undefined) return known;
    const texts = this.#texts.slice(place << CHUNK_BITS, (place + 1) << CHUNK_BITS);
    const chunk = joinedChunk(texts);
    this.#chunks[place] = chunk;
    this.#bytes += chunkBytes(chunk);
    return chunk;
  }
}

/** Whether one text matches a folded needle. */
function matches(match: TextMatch, text: string, needle: string): boolean {
  if (text === "") return false;
  const folded = fold(text);
  switch (match) {
    case "contains":
      return folded.includes(needle);
    case "equals":
      return folded === needle;
    case "starts_with":
      return folded.startsWith(needle);
    case "ends_with":
      return folded.endsWith(needle);
  }
}

function narrowToEmptyNeedle(
  match: TextMatch,
  negated: boolean,
  starts: Int32Array,
  mask: Uint8Array,
): void {
  for (let row = 0; row < mask.length; row += 1) {
    const isEmpty = (starts[row + 1] ?? 0) - (starts[row] ?? 0) === SEPARATOR.length;
    const isMatch = !isEmpty && match !== "equals";
    if (isMatch === negated) mask[row] = 0;
  }
}

function joinedChunk(texts: readonly string[]): Chunk {
  const raw = `${SEPARATOR}${texts.join(SEPARATOR)}${SEPARATOR}`;
  const whole = fold(raw);
  // Folding may make a text longer (İ becomes two units) but never shorter, and changes nothing around it.
  const parts = whole.length === raw.length ? texts : texts.map(fold);
  const starts = new Int32Array(texts.length + 1);
  let start = SEPARATOR.length;
  for (const [index, part] of parts.entries()) {
    starts[index] = start;
    start += part.length + SEPARATOR.length;
  }
  starts[texts.length] = start;
  return { joined: whole, starts };
}

function chunkBytes({ joined, starts }: Chunk): number {
  return bytesOf(joined) + starts.byteLength;
}

/** The candidates from this one up to an end, or null when there are more than a few. */
function candidatesUpTo(mask: Uint8Array, first: number, end: number): number[] | null {
  const candidates: number[] = [];
  let index = first;
  while (index !== -1 && index < end) {
    if (candidates.length === FEW) return null;
    candidates.push(index);
    index = mask.indexOf(1, index + 1);
  }
  return candidates;
}

function indexesFrom(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, index) => start + index);
}
