import type { Logger } from "pino";
import type { Claim, ClaimedTask } from "./claim-tasks.ts";

/** The dependencies of a claim loop. */
export interface ClaimLoopOptions {
  /** How many slots are free. */
  free: () => number;
  /** Extra places for companies that have no slot, while none is free. */
  freeForGuests: () => number;
  /** Whether the next claim need not wait for more slots to become free. */
  isMostlyFree: () => boolean;
  /** Claims for all companies, or only for those that have no slot. */
  claim: (limit: number, forGuests: boolean) => Promise<Claim>;
  /** Called when no slot is free and more may be due. */
  onBehind: () => void;
  /** Executes the claimed tasks. */
  begin: (tasks: readonly ClaimedTask[]) => void;
  /** Gives back the tasks of a claim whose answer was lost. The next claim begins afterwards. */
  onFailure: () => Promise<void>;
  /** The longest rest, in milliseconds. */
  pollMs: number;
  logger: Logger;
}

/**
 * - `resting`: nothing is known to be due. An announcement of new tasks, or the timer, begins a claim.
 * - `claiming`: a claim is under way.
 * - `behind`: more may be due. The next claim begins as soon as slots are free. Tasks announced before
 * that get extra places, if their companies have no slot.
 * - `failed`: it is not known what is due. The timer begins the next claim.
 * - `stopped`: for good.
 */
type Mode = "resting" | "claiming" | "behind" | "failed" | "stopped";

/** Most tasks that one claim takes. More would delay the first of them. */
const CLAIM_MAX = 64;
/** Slots that become free at about the same time share a claim. */
const GATHER_MS = 1;
const RETRY_MS = 500;
/** The least time between two claims for guests. Each is a query that may find nothing. */
const GUESTS_MS = 50;
/** The pause while other workers claim the oldest tasks. */
const CROWDED_MS = 5;

/** Decides when tasks are claimed: one claim at a time, and none while nothing is due. */
export class ClaimLoop {
  readonly #options: ClaimLoopOptions;
  #mode: Mode = "resting";
  /** Whether a claim has found everything that is due, and nothing was announced since. */
  #caughtUp = false;
  /** Whether something was announced during the claim that is under way. */
  #again = false;
  /** Slots that the claim under way may fill. */
  #asked = 0;
  #claiming: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #guestsAt = Number.NEGATIVE_INFINITY;

  constructor(options: ClaimLoopOptions) {
    this.#options = options;
  }

  /**
   * The number of slots for tasks that nobody has claimed. The number is 0 while other tasks are due, since
   * new tasks would overtake them.
   */
  get spare(): number {
    return this.#caughtUp ? Math.max(0, this.#options.free() - this.#asked) : 0;
  }

  /** Whether tasks may be due for which no slot is free. */
  get isBehind(): boolean {
    return this.#mode === "behind" && this.#options.free() <= 0;
  }

  /** Announces that tasks may be due. */
  announce(): void {
    this.#caughtUp = false;
    this.#again = true;
    if (this.#mode === "resting") this.#claim();
    else if (this.#mode === "behind") this.#planGuests();
  }

  /** Announces that a task becomes due after so many milliseconds. */
  announceIn(delayMs: number): void {
    this.#planIn(Math.min(delayMs, this.#options.pollMs));
  }

  /** Reports that a slot has become free. */
  slotFreed(): void {
    if (this.#mode === "behind") this.#planIn(this.#options.isMostlyFree() ? 0 : GATHER_MS);
  }

  /** Begins no more claims; resolves when the last one is over. */
  stop(): Promise<void> {
    this.#mode = "stopped";
    this.#caughtUp = false;
    clearTimeout(this.#timer);
    return this.#claiming;
  }

  #planIn(delayMs: number): void {
    const at = performance.now() + delayMs;
    if (this.#mode === "stopped" || at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(
      () => {
        this.#timerAt = Number.POSITIVE_INFINITY;
        // The claim under way may have overlooked what became due meanwhile.
        if (this.#mode === "claiming") this.#again = true;
        else this.#claim();
      },
      Math.max(0, delayMs),
    );
  }

  #claim(): void {
    if (this.#mode === "claiming" || this.#mode === "stopped") return;
    if (this.#options.free() > 0) this.#claiming = this.#claimWhileBehind();
    else if (this.#options.freeForGuests() === 0) this.#fallBehind();
    else if (performance.now() < this.#guestsAt + GUESTS_MS) {
      this.#fallBehind();
      this.#planGuests();
    } else this.#claiming = this.#claimForGuests();
  }

  #planGuests(): void {
    if (this.#options.freeForGuests() === 0) return;
    this.#planIn(Math.max(GATHER_MS, this.#guestsAt + GUESTS_MS - performance.now()));
  }

  /** Claims for companies that have no slot while none is free. */
  async #claimForGuests(): Promise<void> {
    const { claim, freeForGuests, begin } = this.#options;
    this.#mode = "claiming";
    this.#guestsAt = performance.now();
    try {
      this.#again = false;
      const { tasks } = await claim(Math.min(freeForGuests(), CLAIM_MAX), true);
      if (tasks.length > 0) begin(tasks);
      if (this.#isStopped()) return;
      this.#fallBehind();
      if (this.#options.free() > 0) this.#planIn(0);
      else if (this.#again) this.#planGuests();
    } catch (error) {
      await this.#fail(error);
    }
  }

  async #claimWhileBehind(): Promise<void> {
    const { claim, free, begin } = this.#options;
    this.#mode = "claiming";
    try {
      do {
        this.#again = false;
        this.#asked = Math.min(free(), CLAIM_MAX);
        const found = await claim(this.#asked, false);
        const isFull = found.tasks.length === this.#asked;
        this.#asked = 0;
        if (found.tasks.length > 0) begin(found.tasks);
        if (this.#isStopped()) return;
        if (!isFull && !this.#again) {
          this.#rest(found);
          return;
        }
        this.#caughtUp = false;
      } while (free() > 0);
      this.#fallBehind();
    } catch (error) {
      await this.#fail(error);
    }
  }

  async #fail(error: unknown): Promise<void> {
    const { onFailure, logger } = this.#options;
    this.#asked = 0;
    this.#caughtUp = false;
    logger.warn({ err: error }, "could not claim tasks");
    await onFailure();
    if (this.#isStopped()) return;
    this.#mode = "failed";
    this.#planIn(RETRY_MS);
  }

  #rest({ nextDueInMs, crowded }: Claim): void {
    const { pollMs } = this.#options;
    this.#mode = "resting";
    // Other workers are taking what was due. More may have been behind it.
    this.#caughtUp = !crowded;
    this.#planIn(crowded ? CROWDED_MS : Math.min(nextDueInMs ?? pollMs, pollMs));
  }

  #fallBehind(): void {
    this.#mode = "behind";
    this.#caughtUp = false;
    this.#planIn(this.#options.pollMs);
    this.#options.onBehind();
  }

  #isStopped(): boolean {
    return this.#mode === "stopped";
  }
}
