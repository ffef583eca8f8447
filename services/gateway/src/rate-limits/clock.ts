/** The time of a gateway, and what it does later. A simulation has another one. */
export interface Clock {
  /** Milliseconds that never go back. */
  now(): number;
  /** Runs something once after so many milliseconds, unless what it answers is called before. */
  after(ms: number, run: () => void): () => void;
  /** Runs something after what else belongs to this turn of the event loop. */
  soon(run: () => void): void;
}

/** The clock of the machine. What is to run later keeps no process alive. */
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
