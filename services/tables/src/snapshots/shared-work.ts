/** The reason for which work stops that nobody waits for. */
class Abandoned extends Error {}

/**
 * Work whose end several callers wait for. It goes on only while one of them does: its signal is aborted when
 * the last one leaves.
 */
export class SharedWork {
  readonly #lastLeft = new AbortController();
  readonly #done: Promise<void>;
  #waiting = 0;

  /** @param work begins at once; each boundary at which it may stop looks at the signal */
  constructor(work: (signal: AbortSignal) => Promise<void>) {
    this.#done = work(this.#lastLeft.signal);
    this.#done.catch(() => {});
  }

  /** Whether everybody who waited has left; a newcomer needs work of its own then. */
  get isAbandoned(): boolean {
    return this.#lastLeft.signal.aborted;
  }

  /** Settles when the work is over, whatever has become of it. */
  async over(): Promise<void> {
    await this.#done.catch(() => {});
  }

  /**
   * Waits for the end of the work.
   *
   * @throws the signal's reason when that comes first
   */
  async wait(signal?: AbortSignal): Promise<void> {
    this.#waiting += 1;
    try {
      await orAborted(this.#done, signal);
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#lastLeft.abort(new Abandoned("Nobody waits for this work."));
    }
  }
}

/** The result of some work; rejects with the signal's reason when that comes first. */
export function orAborted<Result>(work: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
