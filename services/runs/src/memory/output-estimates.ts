import { LRUCache } from "lru-cache";

/** What a step is taken to bring of which nobody knows better (bytes of JSON text). */
const UNKNOWN_BYTES = 64 * 1024;
const STEPS_MAX = 10_000;

/**
 * How large the outputs of steps are likely to be: as large as the largest that came last. A step's memory
 * is reserved before it begins, since what it brings cannot be refused once it is there.
 */
export class OutputEstimates {
  readonly #bytes = new LRUCache<string, number>({ max: STEPS_MAX });

  /** @param key of the step, in whatever run */
  bytesOf(key: string): number {
    return this.#bytes.get(key) ?? UNKNOWN_BYTES;
  }

  /** A smaller one lets the estimate down slowly. */
  note(key: string, bytes: number): void {
    const known = this.#bytes.get(key) ?? 0;
    const estimate = Math.max(bytes, Math.floor(known * 0.9));
    if (known > UNKNOWN_BYTES || estimate > UNKNOWN_BYTES) this.#bytes.set(key, estimate);
  }
}
