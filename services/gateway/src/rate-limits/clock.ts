/** The time of a gateway, and what it does later. A simulation has another one. */
export interface Clock {
  /** Milliseconds that never go back. */
  now(): number;
  /** Calls `run` once after so many milliseconds. The returned function cancels it. */
  after(ms: number, run: () => void): () => void;
  /** Calls `run` after the other work of this turn of the event loop. */
  soon(run: () => void): void;
}

/** The clock of the machine. Its timers keep no process alive. */
export const processClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  soon(run) {
    setImmediate(run);
  },
};
