import type { Clock } from "../domain/clock.ts";
import type { OpenStep } from "../domain/step-records.ts";

/** What may change about a step while it is open. */
export type OpenStepChange = Partial<
  Pick<
    OpenStep,
    "dueAt" | "hasTurn" | "deadlineAt" | "attempt" | "attemptGroup" | "previousAttempts"
  >
>;

/** The changes that a write makes to the stored open steps. */
export interface OpenStepsWrite {
  opened: OpenStep[];
  /** Paths. */
  closed: string[];
}

/** The steps of a run that have begun and not ended, and which of them are stored. */
export class OpenSteps {
  readonly #open = new Map<string, OpenStep>();
  /** The open steps of earlier executions that this one has not reached yet. */
  readonly #before: Map<string, OpenStep>;
  readonly #stored: Set<string>;
  readonly #containers = new Set<string>();
  #dirty = new Set<string>();
  #closed: string[] = [];
  #nextSeq: number;
  readonly #clock: Clock;

  constructor(before: Map<string, OpenStep>, nextSeq: number, clock: Clock) {
    this.#clock = clock;
    this.#before = before;
    this.#stored = new Set(before.keys());
    this.#nextSeq = nextSeq;
  }

  /** How many steps the run has begun, ended ones included. */
  get begun(): number {
    return this.#nextSeq - 1;
  }

  /** The number that the next step gets. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** The stored open steps by path. */
  get stored(): Map<string, OpenStep> {
    const stored = new Map<string, OpenStep>();
    for (const path of this.#stored) {
      const step = this.#open.get(path) ?? this.#before.get(path);
      if (step !== undefined) stored.set(path, step);
    }
    return stored;
  }

  /** Whether a step has begun and not ended, in this execution or an earlier one. */
  has(path: string): boolean {
    return this.#open.has(path) || this.#before.has(path);
  }

  /** Whether an open step is stored, or will be with the next write. */
  isPersisted(path: string): boolean {
    return this.#stored.has(path) || this.#dirty.has(path);
  }

  /** Whether an earlier execution has begun any step inside a block that has not ended. */
  hasBefore(prefix: string): boolean {
    for (const path of this.#before.keys()) if (path.startsWith(prefix)) return true;
    return false;
  }

  /** How many open steps have a path for which this is true. */
  countWhere(isMeant: (path: string) => boolean): number {
    let count = 0;
    for (const path of new Set([...this.#open.keys(), ...this.#before.keys()])) {
      if (isMeant(path)) count += 1;
    }
    return count;
  }

  /**
   * Begins a step, or goes on with one that had begun before.
   *
   * @param container whether the step runs other steps
   */
  begin(path: string, container: boolean): OpenStep {
    const open = this.#open.get(path) ?? this.#before.get(path) ?? this.#newStep(path);
    this.#open.set(path, open);
    if (container) this.#containers.add(path);
    return open;
  }

  /** Changes an open step, and stores it with the next write. */
  persistWait(step: OpenStep, change: OpenStepChange): void {
    Object.assign(step, change);
    this.#dirty.add(step.path);
  }

  /** Ends a step. */
  close(path: string): void {
    this.#open.delete(path);
    this.#dirty.delete(path);
    this.#containers.delete(path);
    this.#before.delete(path);
    if (this.#stored.delete(path)) this.#closed.push(path);
  }

  /** Ends all steps whose path fits, without a result. */
  closeWhere(isMeant: (path: string) => boolean): void {
    for (const path of new Set([...this.#open.keys(), ...this.#stored])) {
      if (isMeant(path)) this.close(path);
    }
  }

  /**
   * Stores every open container with the next write. The results of the steps inside are stored then, so
   * the container must be found again.
   */
  storeContainers(): void {
    for (const path of this.#containers) if (!this.#stored.has(path)) this.#dirty.add(path);
  }

  /** Returns the changes for the next write, which count as written from then on. */
  take(): OpenStepsWrite {
    const write = {
      opened: [...this.#dirty].flatMap((path) => this.#open.get(path) ?? []),
      closed: this.#closed,
    };
    for (const path of this.#dirty) this.#stored.add(path);
    this.#dirty = new Set();
    this.#closed = [];
    return write;
  }

  /** Drops what the next write would have stored. */
  discard(): void {
    this.#dirty.clear();
  }

  #newStep(path: string): OpenStep {
    return {
      path,
      seq: this.#nextSeq++,
      startedAt: new Date(this.#clock.now()),
      dueAt: null,
      hasTurn: false,
      deadlineAt: null,
      attempt: 1,
      attemptGroup: 1,
      previousAttempts: [],
    };
  }
}
