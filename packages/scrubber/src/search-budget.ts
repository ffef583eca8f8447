/**
 * What the search of one value may still compare: of a text, or of JSON with all the texts in it. Hardly
 * any is needed, as anchors are rare; but texts and secrets can be made to agree again and again at length,
 * which would take quadratic time. Once it is spent it stays so, whatever is granted later.
 */
export class SearchBudget {
  #left: number;
  #leftHere = Infinity;
  #spent = 0;
  #isSpent = false;

  /** @param units for the value as a whole, however many texts it has */
  constructor(units = UNITS_PER_VALUE) {
    this.#left = units;
  }

  /** So many units of text have to be looked at, too. */
  grant(textUnits: number): void {
    this.#left += UNITS_PER_UNIT_OF_TEXT * textUnits;
  }

  /** What is spent from here on is compared at one place of a text, between two turns of others. */
  enterPlace(): void {
    this.#leftHere = UNITS_PER_PLACE_MAX;
  }

  /** An attempt that compared so many units; to begin with one costs as much as some of them. */
  spend(units: number): void {
    const cost = ATTEMPT_UNITS + units;
    this.#spent += cost;
    this.#left -= cost;
    this.#leftHere -= cost;
    if (this.#left < 0 || this.#leftHere < 0) this.#isSpent = true;
  }

  /** All that was spent so far, in units. */
  get spent(): number {
    return this.#spent;
  }

  /** Whether to give up: what has not been searched must not be shown. */
  get isSpent(): boolean {
    return this.#isSpent;
  }
}

const UNITS_PER_UNIT_OF_TEXT = 8;
/** Some 6 ms where every unit is compared in the costliest way. */
const UNITS_PER_VALUE = 100_000;
/** A secret of 8 KiB in an escape of every character is found with less. */
const UNITS_PER_PLACE_MAX = 500_000;
const ATTEMPT_UNITS = 16;
