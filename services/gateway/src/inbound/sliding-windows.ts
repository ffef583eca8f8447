import { LRUCache } from "lru-cache";

export interface SlidingWindowsOptions {
  /** What each key may have within any window; 0 is no limit. */
  max: number;
  windowMs: number;
  /** Milliseconds that never go back. */
  now?: () => number;
}

/** Of all keys together, 8 bytes each: who was seen longest ago is forgotten first. */
const MOMENTS_MAX = 4_000_000;
const FIRST_CAPACITY = 8;
/** What is kept of a key besides its moments, counted in moments. */
const OVERHEAD = 32;

/**
 * Exact sliding windows: within any window of time each key gets at most `max` (D9). What is refused is not
 * counted. Counted in this process alone.
 */
export class SlidingWindows {
  readonly #max: number;
  readonly #windowMs: number;
  readonly #now: () => number;
  readonly #rings: LRUCache<string, Ring>;

  constructor({ max, windowMs, now = () => performance.now() }: SlidingWindowsOptions) {
    this.#max = max;
    this.#windowMs = windowMs;
    this.#now = now;
    this.#rings = new LRUCache({
      maxSize: Math.max(MOMENTS_MAX, 2 * max + OVERHEAD),
      sizeCalculation: ({ capacity }) => capacity + OVERHEAD,
    });
  }

  /** Counts one of a key. Returns null, or after how many milliseconds there is room again. */
  take(key: string): number | null {
    if (this.#max === 0) return null;
    const at = this.#now();
    let ring = this.#rings.get(key);
    ring?.dropUntil(at - this.#windowMs);
    if (ring !== undefined && ring.count >= this.#max) return ring.oldest + this.#windowMs - at;
    if (ring === undefined || ring.count === ring.capacity) {
      ring = ring?.grown() ?? new Ring(FIRST_CAPACITY);
      this.#rings.set(key, ring);
    }
    ring.push(at);
    return null;
  }
}

/** Moments in the order in which they came. */
class Ring {
  count = 0;
  readonly #moments: Float64Array;
  #first = 0;

  constructor(capacity: number) {
    this.#moments = new Float64Array(capacity);
  }

  get capacity(): number {
    return this.#moments.length;
  }

  /** NaN when there is none. */
  get oldest(): number {
    return this.count === 0 ? Number.NaN : this.#at(0);
  }

  push(moment: number): void {
    this.#moments[(this.#first + this.count) % this.capacity] = moment;
    this.count += 1;
  }

  /** Forgets what is not younger than this. */
  dropUntil(moment: number): void {
    while (this.oldest <= moment) {
      this.#first = (this.#first + 1) % this.capacity;
      this.count -= 1;
    }
  }

  /** The same with twice the room. */
  grown(): Ring {
    const ring = new Ring(this.capacity * 2);
    for (let index = 0; index < this.count; index += 1) ring.push(this.#at(index));
    return ring;
  }

  #at(index: number): number {
    return this.#moments[(this.#first + index) % this.capacity] ?? Number.NaN;
  }
}
