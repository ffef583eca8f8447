/**
 * Of a beat from its sender to the server and back, in milliseconds. A home and a deputy that both take no longer
 * renew a lease before it ends.
 */
const QUICK_MS = 350;
/** So many slow beats in a row are no accident: two seconds. */
const SLOW_BEATS = 8;
/** So many quick beats in a row end that, twice as many each time, until so many were quick that all is forgotten. */
const FIRST_PROOF = 16;
const LONGEST_PROOF = 256;

/** Whether this gateway takes too long, over and over, to be waited for by the others: by its own beats. */
export class OwnPace {
  isSlow = false;
  #slowBeats = 0;
  #quickBeats = 0;
  #proof = FIRST_PROOF;

  /** Notes how long a beat took. True when something has changed by that. */
  note(beatMs: number): boolean {
    if (beatMs > QUICK_MS) this.#quickBeats = 0;
    else this.#slowBeats = 0;
    if (beatMs > QUICK_MS) this.#slowBeats += 1;
    else this.#quickBeats += 1;
    const wasSlow = this.isSlow;
    this.isSlow = wasSlow ? this.#quickBeats < this.#proof : this.#slowBeats >= SLOW_BEATS;
    if (wasSlow && !this.isSlow) this.#proof = Math.min(2 * this.#proof, LONGEST_PROOF);
    else if (!wasSlow && this.#quickBeats >= LONGEST_PROOF) this.#proof = FIRST_PROOF;
    return wasSlow !== this.isSlow;
  }
}
