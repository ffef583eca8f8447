import type { Ages } from "./messages.ts";

const FIRST_CAPACITY = 4;
/** A moment takes two numbers: the time, and source and count in one. Both are whole and small. */
const STRIDE = 2;
const NUMBERS = 2 ** 32;
/**
 * All that one source has within so many milliseconds is one entry, at the latest of its moments. So a window of a
 * minute has at most 12,000 entries of a source. Places become free up to so much later, never earlier.
 */
const SLOT_MS = 5;
/**
 * The slot of ages that others are told: at most 600 pairs of a source for a window of a minute.
 */
const TOLD_SLOT_MS = 100;

/**
 * The moments that were counted, in order, with their sources. As a ring, adding and dropping cost the same at
 * every size.
 */
export class Moments {
  /** The count of all sources together. */
  count = 0;
  #ring = new Float64Array(FIRST_CAPACITY * STRIDE);
  #first = 0;
  #entries = 0;

  /** How many entries there is room for. */
  get capacity(): number {
    return this.#ring.length / STRIDE;
  }

  /** How many entries there are, which is the cost of reading them all. */
  get entries(): number {
    return this.#entries;
  }

  /** The latest moment; -Infinity when there is none. */
  get latest(): number {
    return this.#entries === 0 ? Number.NEGATIVE_INFINITY : this.#momentOf(this.#entries - 1);
  }

  /** Counts one for a source, at a moment that is not before the latest. */
  add(moment: number, source: number): void {
    const last = this.#entries - 1;
    const isSameSlot = last >= 0 && isOfOneSlot(this.#momentOf(last), moment, SLOT_MS);
    if (isSameSlot && this.#sourceOf(last) === source) {
      const at = this.#indexOf(last);
      this.#ring[at] = moment;
      this.#ring[at + 1] = source * NUMBERS + this.#numberOf(last) + 1;
      this.count += 1;
    } else this.#push(moment, source, 1);
  }

  /** Forgets everything up to a moment. */
  dropUntil(moment: number): void {
    while (this.#entries > 0 && this.#momentOf(0) <= moment) {
      this.count -= this.#numberOf(0);
      this.#first = (this.#first + 1) % this.capacity;
      this.#entries -= 1;
    }
  }

  /** The n-th oldest moment, counted from 1. The latest one when there are fewer. */
  oldest(n: number): number {
    let left = n;
    for (let entry = 0; entry < this.#entries; entry += 1) {
      left -= this.#numberOf(entry);
      if (left <= 0) return this.#momentOf(entry);
    }
    return this.latest;
  }

  /**
   * The ages of each source at a moment. Ages within a tenth of a second become one, the youngest.
   */
  agesAt(moment: number): Map<number, number[]> {
    const ages = new Map<number, number[]>();
    const slots = new Map<number, number>();
    for (let entry = 0; entry < this.#entries; entry += 1) {
      const source = this.#sourceOf(entry);
      const at = this.#momentOf(entry);
      const age = Math.floor(moment - at);
      const ofSource = ages.get(source) ?? [];
      if (ofSource.length === 0) ages.set(source, ofSource);
      const slot = Math.floor(at / TOLD_SLOT_MS);
      const last = ofSource.length - 2;
      if (last >= 0 && slots.get(source) === slot) {
        ofSource[last] = age;
        ofSource[last + 1] = (ofSource[last + 1] ?? 0) + this.#numberOf(entry);
      } else ofSource.push(age, this.#numberOf(entry));
      slots.set(source, slot);
    }
    return ages;
  }

  /**
   * Takes over another gateway's list of a source when it is longer than the one here. Both lists are parts of one
   * truth, so nothing may count twice.
   */
  learn(source: number, ages: Ages, moment: number): void {
    let known = 0;
    for (let entry = 0; entry < this.#entries; entry += 1) {
      if (this.#sourceOf(entry) === source) known += this.#numberOf(entry);
    }
    let told = 0;
    for (let index = 1; index < ages.length; index += 2) told += ages[index] ?? 0;
    if (told <= known) return;
    const before = this.#empty();
    let next = 0;
    for (let entry = 0; entry < before.#entries; entry += 1) {
      if (before.#sourceOf(entry) === source) continue;
      const at = before.#momentOf(entry);
      for (; next < ages.length && moment - (ages[next] ?? 0) <= at; next += 2) {
        this.#push(moment - (ages[next] ?? 0), source, ages[next + 1] ?? 0);
      }
      this.#push(at, before.#sourceOf(entry), before.#numberOf(entry));
    }
    for (; next < ages.length; next += 2) {
      this.#push(moment - (ages[next] ?? 0), source, ages[next + 1] ?? 0);
    }
  }

  /** Forgets everything and returns the former content. */
  #empty(): Moments {
    const before = new Moments();
    before.#ring = this.#ring;
    before.#first = this.#first;
    before.#entries = this.#entries;
    this.#ring = new Float64Array(before.#ring.length);
    this.#first = 0;
    this.#entries = 0;
    this.count = 0;
    return before;
  }

  #push(moment: number, source: number, number: number): void {
    if (this.#entries === this.capacity) this.#grow();
    const at = this.#indexOf(this.#entries);
    this.#ring[at] = moment;
    this.#ring[at + 1] = source * NUMBERS + number;
    this.#entries += 1;
    this.count += number;
  }

  #grow(): void {
    const ring = new Float64Array(this.#ring.length * 2);
    ring.set(this.#ring.subarray(this.#first * STRIDE));
    ring.set(this.#ring.subarray(0, this.#first * STRIDE), (this.capacity - this.#first) * STRIDE);
    this.#ring = ring;
    this.#first = 0;
  }

  #indexOf(entry: number): number {
    return ((this.#first + entry) % this.capacity) * STRIDE;
  }

  #momentOf(entry: number): number {
    return this.#ring[this.#indexOf(entry)] ?? 0;
  }

  #sourceOf(entry: number): number {
    return Math.floor((this.#ring[this.#indexOf(entry) + 1] ?? 0) / NUMBERS);
  }

  #numberOf(entry: number): number {
    return (this.#ring[this.#indexOf(entry) + 1] ?? 0) % NUMBERS;
  }
}

function isOfOneSlot(one: number, other: number, slotMs: number): boolean {
  return Math.floor(one / slotMs) === Math.floor(other / slotMs);
}
