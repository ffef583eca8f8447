/** The reason for the end of work that nobody waits for. */
class Abandoned extends Error {}

/**
 * Work that several callers wait for. It goes on while at least one of them waits: the departure of the last one
 * aborts its signal.
 */
export class SharedWork {
  readonly #lastLeft = new AbortController();
  readonly #done: Promise<void>;
  #waiting = 0;

  /** @param work begins at once, and looks at the signal wherever it may stop */
  constructor(work: (signal: AbortSignal) => Promise<void>) {
    this.#done = work(this.#lastLeft.signal);
    this.#done.catch(() => {});
  }

  /** Whether all callers have left. A new caller needs work of its own then. */
  get isAbandoned(): boolean {
    return this.#lastLeft.signal.aborted;
  }

  /** Settles at the end of the work, whether it succeeded or not. */
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

/** Returns the result of some work, or rejects with the signal's reason when that comes first. */
export function orAborted<Result>(work: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
