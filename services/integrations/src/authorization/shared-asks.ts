import { setTimeout as delay } from "node:timers/promises";

/**
 * Asks questions about the same key one after the other, with a pause in between. Callers that arrive
 * meanwhile share the next question. So each caller gets an answer to a question that began after its
 * arrival.
 */
export class SharedAsks<Answer> {
  /** Questions that wait for their turn. */
  readonly #next = new Map<string, Promise<Answer>>();
  /** Resolved a pause after the end of the latest question. */
  readonly #rested = new Map<string, Promise<void>>();
  readonly #pauseMs: number;

  /** @param pauseMs the pause from the end of one question to the beginning of the next, in milliseconds */
  constructor(pauseMs: number) {
    this.#pauseMs = pauseMs;
  }

  /**
   * The answer to the next question about `key`. All callers that share it get its error too.
   *
   * @param question asked only when no other one waits
   */
  ask(key: string, question: () => Promise<Answer>): Promise<Answer> {
    const waiting = this.#next.get(key);
    if (waiting !== undefined) return waiting;
    const next = this.#afterRest(key, question);
    this.#next.set(key, next);
    const rested = this.#restAfter(next).then(() => {
      if (this.#rested.get(key) === rested) this.#rested.delete(key);
    });
    this.#rested.set(key, rested);
    return next;
  }

  async #afterRest(key: string, question: () => Promise<Answer>): Promise<Answer> {
    await this.#rested.get(key);
    this.#next.delete(key);
    return question();
  }

  async #restAfter(asked: Promise<Answer>): Promise<void> {
    await Promise.allSettled([asked]);
    await delay(this.#pauseMs, undefined, { ref: false });
  }
}
