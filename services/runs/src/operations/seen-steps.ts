/** The most gaps that are noted one by one. */
const GAPS_MAX = 200;
const NUMBER_MAX = 2_147_483_647;
const TEXT = /^(?:0|[1-9]\d{0,9})(?:\.[1-9]\d{0,9}(?:-[1-9]\d{0,9})?)*$/;

/**
 * The steps of a run that a watcher has received, by number. Steps get their numbers, from 1, when they
 * begin, and results when they end. So nearly all up to the highest were received; only steps that are
 * still open are missing.
 */
export class SeenSteps {
  #highest = 0;
  /** Missing numbers below the highest, as ascending inclusive ranges. */
  #gaps: [from: number, to: number][] = [];

  /** Reads a text of `encode`; null when it is none. */
  static parse(text: string): SeenSteps | null {
    if (!TEXT.test(text)) return null;
    const [highest = 0, ...gaps] = text
      .split(".")
      .map((part) => part.split("-").map(Number))
      .map(([from = 0, to = from], index): number | [number, number] =>
        index === 0 ? from : [from, to],
      );
    const seen = new SeenSteps();
    if (typeof highest !== "number" || highest > NUMBER_MAX) return null;
    let last = 0;
    for (const gap of gaps) {
      if (typeof gap === "number") return null;
      const [from, to] = gap;
      if (from <= last || to < from || to >= highest) return null;
      last = to;
      seen.#gaps.push(gap);
    }
    seen.#highest = highest;
    return seen;
  }

  /** All steps up to this number were received, except the missing ones. */
  get upTo(): number {
    return this.#highest;
  }

  /** Whether a step was received. */
  has(number: number): boolean {
    if (number > this.#highest) return false;
    return !this.#gaps.some(([from, to]) => from <= number && number <= to);
  }

  /** Notes that a step was received. */
  add(number: number): void {
    if (number > this.#highest) {
      if (number > this.#highest + 1) this.#gaps.push([this.#highest + 1, number - 1]);
      this.#highest = number;
      return;
    }
    this.#gaps = this.#gaps.flatMap(([from, to]): [number, number][] => {
      if (number < from || to < number) return [[from, to]];
      const parts: [number, number][] = [
        [from, number - 1],
        [number + 1, to],
      ];
      return parts.filter(([first, last]) => first <= last);
    });
  }

  /**
   * The highest number, and the missing ones below it one by one. If they are too many, all from the
   * first of them on count as missing.
   */
  summary(): { upTo: number; missing: number[] } {
    const count = this.#gaps.reduce((sum, [from, to]) => sum + to - from + 1, 0);
    const [first] = this.#gaps;
    if (first !== undefined && count > GAPS_MAX) return { upTo: first[0] - 1, missing: [] };
    const missing = this.#gaps.flatMap(([from, to]) =>
      Array.from({ length: to - from + 1 }, (_, index) => from + index),
    );
    return { upTo: this.#highest, missing };
  }

  /** A text for `parse`: `12.3.5-7`. With too many gaps it leaves out what lies above the first. */
  encode(): string {
    const [first] = this.#gaps;
    if (first !== undefined && this.#gaps.length > GAPS_MAX) return String(first[0] - 1);
    const gaps = this.#gaps.map(([from, to]) => (from === to ? `.${from}` : `.${from}-${to}`));
    return String(this.#highest) + gaps.join("");
  }
}
