import { ANCHOR_UNITS } from "./anchors.ts";
import type { Range, SecretForm } from "./anchors.ts";
import { base64FormsOf } from "./base64-form.ts";
import type { SearchBudget } from "./search-budget.ts";
import { textFormsOf } from "./text-form.ts";

/** Searches texts for many secrets at once, in all their forms. */
export interface SecretFinder {
  /** Begins to search a text at the cost of a budget, which is granted what the text is worth. */
  begin(text: string, budget: SearchBudget): TextSearch;
}

/** What is searched for, each with at least four characters; line breaks as `\n` but in base64. */
export interface FinderValues {
  /** In every form. */
  everywhere: readonly string[];
  /** In all forms but base64. */
  asText: readonly string[];
  /** In base64 only. */
  inBase64: readonly string[];
}

/** The search of one text. */
export interface TextSearch {
  /**
   * Searches on until so much work is done; whether that was the end of it. A code unit of the text is one
   * of work, a unit of the budget is `SPENT_UNIT_WORK`.
   */
  advance(work: number): boolean;
  /**
   * Every place of every secret, in no order; they may overlap. `everywhere` when the search had to
   * be given up, so that the text is to be taken as one big place.
   */
  readonly found: readonly Range[] | "everywhere";
}

/** To compare takes longer than to look for anchors. */
export const SPENT_UNIT_WORK = 4;

/** For each anchor as many entries, so that few other units fall on one of them. */
const FILTER_ENTRIES_PER_ANCHOR = 64;
const FILTER_BITS_MIN = 10;
const FILTER_BITS_MAX = 18;
/** 2^32 divided by the golden ratio, as a signed number: spreads neighbouring numbers (Knuth). */
const SPREAD = -1_640_531_535;

/**
 * Prepares a search.
 *
 * One pass over the text keeps a number made of the last four code units and looks it up, first in a
 * small table of bytes and then in a map of the forms that have such an anchor. Only where one has is
 * the text compared. The cost hardly depends on how many secrets there are, or how long.
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
  /** Not zero where the number of some anchor, spread and shifted, is an index. */
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

/** Four times eight bits: what is pushed has left again after four more. */
function pushUnit(hash: number, unit: number): number {
  return (hash << 8) ^ unit;
}
