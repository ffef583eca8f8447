import { ANCHOR_UNITS } from "./anchors.ts";
import type { Range, SecretForm } from "./anchors.ts";
import { base64FormsOf } from "./base64-form.ts";
import type { SearchBudget } from "./search-budget.ts";
import { textFormsOf } from "./text-form.ts";

/** Searches texts for many secrets at once, in all their forms. */
export interface SecretFinder {
  /** Begins the search of a text. The search adds the text's units to the budget and spends from it. */
  begin(text: string, budget: SearchBudget): TextSearch;
}

/** The values to find, each with at least four characters; line breaks are `\n` except in base64. */
export interface FinderValues {
  /** Values to find in every form. */
  everywhere: readonly string[];
  /** Values to find in all forms but base64. */
  asText: readonly string[];
  /** Values to find in base64 only. */
  inBase64: readonly string[];
}

/** The search of one text. */
export interface TextSearch {
  /**
   * Continues the search for an amount of work; true at the end of the text. A code unit of the text is
   * one unit of work, and a unit of the budget is `SPENT_UNIT_WORK`.
   */
  advance(work: number): boolean;
  /**
   * The ranges of all secrets, in no order; they may overlap. `everywhere` when the search was given
   * up: the whole text counts as one range.
   */
  readonly found: readonly Range[] | "everywhere";
}

/** A comparison takes longer than a step of the search for anchors. */
export const SPENT_UNIT_WORK = 4;

/** The filter's entries for each anchor, enough for few other units to match one. */
const FILTER_ENTRIES_PER_ANCHOR = 64;
const FILTER_BITS_MIN = 10;
const FILTER_BITS_MAX = 18;
/** 2^32 divided by the golden ratio, as a signed number, which spreads neighbouring numbers (Knuth). */
const SPREAD = -1_640_531_535;

/**
 * Creates a finder. One pass over the text keeps a hash of the last four code units and looks it up,
 * first in a small table of bytes and then in a map from anchors to forms. Only a matching anchor leads
 * to a comparison. The cost hardly depends on the number or length of the secrets.
 */
export function createSecretFinder({ everywhere, asText, inBase64 }: FinderValues): SecretFinder {
  const formsByAnchor = new Map<number, SecretForm[]>();
  const texts = textFormsOf([...everywhere, ...asText]);
  for (const forms of [texts, ...[...everywhere, ...inBase64].map(base64FormsOf)]) {
    for (const [anchors, form] of forms) addForm(formsByAnchor, anchors, form);
  }
  const bits = Math.ceil(Math.log2(1 + formsByAnchor.size * FILTER_ENTRIES_PER_ANCHOR));
  const shift = 32 - Math.min(Math.max(bits, FILTER_BITS_MIN), FILTER_BITS_MAX);
  const filter = new Uint8Array(2 ** (32 - shift));
  for (const hash of formsByAnchor.keys()) filter[Math.imul(hash, SPREAD) >>> shift] = 1;

  const index: AnchorIndex = { formsByAnchor, filter, shift };
  return { begin: (text, budget) => new AnchorSearch(text, index, budget) };
}

interface AnchorIndex {
  formsByAnchor: ReadonlyMap<number, readonly SecretForm[]>;
  /** Nonzero at the index that the hash of an anchor gives. */
  filter: Uint8Array;
  shift: number;
}

class AnchorSearch implements TextSearch {
  readonly #text: string;
  readonly #anchors: AnchorIndex;
  readonly #budget: SearchBudget;
  readonly #found: Range[] = [];
  #next = 0;
  #hash = 0;

  constructor(text: string, anchors: AnchorIndex, budget: SearchBudget) {
    this.#text = text;
    this.#anchors = anchors;
    this.#budget = budget;
    budget.grant(text.length);
  }

  get found(): readonly Range[] | "everywhere" {
    return this.#budget.isSpent ? "everywhere" : this.#found;
  }

  advance(work: number): boolean {
    const text = this.#text;
    const budget = this.#budget;
    const { formsByAnchor, filter, shift } = this.#anchors;
    const spentMax = budget.spent + work / SPENT_UNIT_WORK;
    let end = Math.min(text.length, this.#next + work);
    let hash = this.#hash;
    for (let index = this.#next; index < end; index += 1) {
      hash = pushUnit(hash, text.charCodeAt(index));
      if (filter[Math.imul(hash, SPREAD) >>> shift] === 0) continue;
      const forms = formsByAnchor.get(hash);
      if (forms === undefined || index + 1 < ANCHOR_UNITS) continue;
      this.#matchAll(forms, index + 1 - ANCHOR_UNITS);
      if (budget.isSpent) return true;
      if (budget.spent > spentMax) end = index + 1;
    }
    this.#hash = hash;
    this.#next = end;
    return end === text.length;
  }

  #matchAll(forms: readonly SecretForm[], at: number): void {
    const budget = this.#budget;
    budget.enterPlace();
    for (const form of forms) {
      const range = form.match(this.#text, at, budget);
      if (range !== null) this.#found.push(range);
      if (budget.isSpent) return;
    }
  }
}

function addForm(
  formsByAnchor: Map<number, SecretForm[]>,
  anchors: Iterable<string>,
  form: SecretForm,
): void {
  for (const anchor of anchors) {
    let hash = 0;
    for (let index = 0; index < anchor.length; index += 1) {
      hash = pushUnit(hash, anchor.charCodeAt(index));
    }
    const forms = formsByAnchor.get(hash);
    if (forms === undefined) formsByAnchor.set(hash, [form]);
    else if (!forms.includes(form)) forms.push(form);
  }
}

/** Four times eight bits, so a pushed unit has left after four more. */
function pushUnit(hash: number, unit: number): number {
  return (hash << 8) ^ unit;
}
