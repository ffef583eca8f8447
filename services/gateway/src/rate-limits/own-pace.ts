/**
 * The way of a heartbeat to the server and back, in milliseconds. A home and a deputy within this time renew a
 * lease before it ends.
 */
const QUICK_MS = 350;
/** So many slow heartbeats in a row, two seconds, are no accident. */
const SLOW_BEATS = 8;
/**
 * So many quick heartbeats in a row end the slowness. The number doubles each time, and starts anew after a long
 * quick time.
 */
const FIRST_PROOF = 16;
const LONGEST_PROOF = 256;

/** Tells from its own heartbeats whether this gateway is repeatedly too slow to be waited for. */
export class OwnPace {
  isSlow = false;
  #slowBeats = 0;
  #quickBeats = 0;
  #proof = FIRST_PROOF;

  /** Notes how long a heartbeat took. True when the judgement has changed. */
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
