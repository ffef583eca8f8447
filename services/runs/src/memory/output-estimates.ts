import { LRUCache } from "lru-cache";

/** The estimate for a step without earlier outputs, in bytes of JSON text. */
const UNKNOWN_BYTES = 64 * 1024;
const STEPS_MAX = 10_000;

/**
 * Estimates how large the outputs of steps will be: as large as the largest of the last ones. A step's
 * memory is reserved before it begins, since an output cannot be refused once it has arrived.
 */
export class OutputEstimates {
  readonly #bytes = new LRUCache<string, number>({ max: STEPS_MAX });

  /** @param key names the step, across all runs */
  bytesOf(key: string): number {
    return this.#bytes.get(key) ?? UNKNOWN_BYTES;
  }

  /** A smaller output lowers the estimate slowly. */
  note(key: string, bytes: number): void {
    const known = this.#bytes.get(key) ?? 0;
    const estimate = Math.max(bytes, Math.floor(known * 0.9));
    if (known > UNKNOWN_BYTES || estimate > UNKNOWN_BYTES) this.#bytes.set(key, estimate);
  }
}
