/**
 * Limits the comparisons in the search of one value: a text, or JSON with all of its texts. A normal
 * search needs few, because anchors are rare. But texts and secrets can be made to agree again and
 * again at length, which would take quadratic time. A spent budget stays spent, whatever is granted
 * later.
 */
export class SearchBudget {
  #left: number;
  #leftHere = Infinity;
  #spent = 0;
  #isSpent = false;

  /** @param units the budget of the whole value, however many texts it has */
  constructor(units = UNITS_PER_VALUE) {
    this.#left = units;
  }

  /** Adds the budget for so many units of text. */
  grant(textUnits: number): void {
    this.#left += UNITS_PER_UNIT_OF_TEXT * textUnits;
  }

  /** Begins the comparisons at one place of a text, between two yields. */
  enterPlace(): void {
    this.#leftHere = UNITS_PER_PLACE_MAX;
  }

  /** Spends an attempt that compared so many units. Beginning an attempt costs as much as some units. */
  spend(units: number): void {
    const cost = ATTEMPT_UNITS + units;
    this.#spent += cost;
    this.#left -= cost;
    this.#leftHere -= cost;
    if (this.#left < 0 || this.#leftHere < 0) this.#isSpent = true;
  }

  /** The spent units so far. */
  get spent(): number {
    return this.#spent;
  }

  /** Whether to give up; the unsearched text must not be shown. */
  get isSpent(): boolean {
    return this.#isSpent;
  }
}

const UNITS_PER_UNIT_OF_TEXT = 8;
/** Some 6 ms with the most expensive comparisons. */
const UNITS_PER_VALUE = 100_000;
/** Enough to find a secret of 8 KiB whose every character is escaped. */
const UNITS_PER_PLACE_MAX = 500_000;
const ATTEMPT_UNITS = 16;
