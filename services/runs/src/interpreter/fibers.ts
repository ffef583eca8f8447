import { startTimer } from "@workflow/async";
import type { Clock } from "../domain/clock.ts";
import { Parked } from "./control-flow-signals.ts";

/*
 * Terms
 * - fiber: a line of steps that run one after the other. Each branch of a parallel step is a fiber of its
 * own.
 * - to park: to end an execution because every fiber of it waits; the task runtime wakes the run up.
 */

/** What a fiber waits for. */
export type WaitKind =
  /** The pause before another attempt. */
  | "retry"
  | "delay"
  /** A delay that makes the run count as suspended (D17). */
  | "suspension"
  | "approval"
  /** The end of a child run. */
  | "child";

/** One wait of one fiber. */
export interface Wait {
  kind: WaitKind;
  /** When the wait is over by itself; null: only a wake-up ends it. */
  dueAt: Date | null;
}

/** Why the execution was parked. */
export interface Parking {
  /** The earliest due moment of a wait; null when none is due by itself. */
  dueAt: Date | null;
  kinds: ReadonlySet<WaitKind>;
}

interface Waiting extends Wait {
  resolve: () => void;
  reject: (reason: Error) => void;
}

/** A wait that is due sooner is never parked. */
const PARK_FROM_MS = 5;
/** What the waits of an execution depend on. */
export interface FibersOptions {
  /** The clock by which waits are due. */
  clock: Clock;
  /** A wait up to this long, in milliseconds, may stay here as long as nobody else needs the slot. */
  shortWaitMs: number;
  /** Whether others wait for the slot of this execution. */
  isSlotWanted: () => boolean;
  /** Called when all fibers wait without being parked, and when one of them goes on. */
  onRest: (isResting: boolean) => void;
}

/**
 * Knows which fibers of one execution work and which wait. While any works, waits end in this process.
 * Once all wait for longer, the execution is parked: every wait is rejected with `Parked`.
 */
export class Fibers {
  #atWork = 1;
  #wakes = 0;
  #checking = false;
  #parking: Parking | null = null;
  readonly #waiting = new Set<Waiting>();
  readonly #deadlines = new Set<Date>();
  readonly #options: FibersOptions;
  #isResting = false;

  constructor(options: FibersOptions) {
    this.#options = options;
  }

  /** A fiber begins to work. */
  enter(): void {
    this.#atWork += 1;
  }

  /** A fiber has ended, or hands over to other fibers that it waits for. */
  leave(): void {
    this.#atWork -= 1;
    if (this.#atWork === 0) this.#checkSoon();
  }

  /** Why the execution was parked; null when it was not. */
  get parking(): Parking | null {
    return this.#parking;
  }

  /** Grows when the run is woken, for waits that check something first; see `wait`. */
  get wakes(): number {
    return this.#wakes;
  }

  /** The run was woken: every wait for something other than a time checks again. */
  wake(): void {
    this.#wakes += 1;
    for (const waiting of this.#waiting) {
      if (waiting.kind === "approval" || waiting.kind === "child") waiting.resolve();
    }
  }

  /**
   * Lets a fiber wait until the wait is due. A wait for an approval or a child also ends when the run is
   * woken.
   *
   * @param wakesSeen value of `wakes` before the fiber checked; a wake-up since then ends the wait
   * @throws Parked when all fibers wait, or the signal's reason when it is aborted
   */
  async wait(wait: Wait, signal: AbortSignal, wakesSeen = this.#wakes): Promise<void> {
    signal.throwIfAborted();
    if (this.#parking !== null) throw new Parked();
    if (wakesSeen !== this.#wakes) return;
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => end(() => reject(asError(signal.reason)));
      const callOffTimer = this.#startTimer(wait.dueAt, () => end(resolve));
      const end = (settle: () => void): void => {
        if (!this.#waiting.delete(waiting)) return;
        callOffTimer();
        signal.removeEventListener("abort", onAbort);
        this.#atWork += 1;
        if (this.#isResting) this.#setResting(false);
        settle();
      };
      const waiting: Waiting = {
        ...wait,
        resolve: () => end(resolve),
        reject: (reason) => end(() => reject(reason)),
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(waiting);
      this.leave();
    });
  }

  /**
   * Gives work a signal that is also aborted at a deadline. The deadline counts for parking as well.
   *
   * @param makeReason makes the reason with which the signal is then aborted
   */
  async withDeadline<T>(
    dueAt: Date,
    outer: AbortSignal,
    makeReason: () => Error,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const inner = followSignal(outer);
    const callOffTimer = this.#startTimer(dueAt, () => inner.controller.abort(makeReason()));
    this.#deadlines.add(dueAt);
    try {
      return await work(inner.controller.signal);
    } finally {
      this.#deadlines.delete(dueAt);
      callOffTimer();
      inner.release();
    }
  }

  /** Others need the slot: an execution that only waits is parked. */
  giveUpSlot(): void {
    if (this.#isResting) this.#checkSoon();
  }

  /**
   * Checks in the next turn of the event loop: a fiber that ends another's wait may only be about to go
   * on.
   */
  #checkSoon(): void {
    if (this.#checking) return;
    this.#checking = true;
    setImmediate(() => {
      this.#checking = false;
      if (this.#atWork > 0 || this.#waiting.size === 0) return;
      this.#park();
    });
  }

  #park(): void {
    const moments = [...this.#deadlines, ...[...this.#waiting].flatMap(({ dueAt }) => dueAt ?? [])];
    const dueMs = Math.min(...moments.map((moment) => moment.getTime()));
    const kinds = new Set([...this.#waiting].map(({ kind }) => kind));
    const leftMs = dueMs - this.#options.clock.now();
    if (leftMs < PARK_FROM_MS || (leftMs <= this.#options.shortWaitMs && this.#mayStay(kinds))) {
      if (!this.#isResting) this.#setResting(true);
      return;
    }
    this.#parking = { dueAt: Number.isFinite(dueMs) ? new Date(dueMs) : null, kinds };
    for (const waiting of this.#waiting) waiting.reject(new Parked());
  }

  /** A wait whose kind must show in the run's status may not stay. */
  #mayStay(kinds: ReadonlySet<WaitKind>): boolean {
    if (this.#options.isSlotWanted()) return false;
    return [...kinds].every((kind) => kind === "retry" || kind === "delay");
  }

  #startTimer(dueAt: Date | null, onDue: () => void): () => void {
    const { clock } = this.#options;
    return startTimer(() => (dueAt === null ? Infinity : dueAt.getTime() - clock.now()), onDue);
  }

  #setResting(isResting: boolean): void {
    this.#isResting = isResting;
    this.#options.onRest(isResting);
  }
}

/** A controller that is aborted along with a signal. */
export function followSignal(outer: AbortSignal): {
  controller: AbortController;
  release: () => void;
} {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(outer.reason);
  outer.addEventListener("abort", onAbort, { once: true });
  if (outer.aborted) onAbort();
  return { controller, release: () => outer.removeEventListener("abort", onAbort) };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("aborted", { cause: reason });
}
