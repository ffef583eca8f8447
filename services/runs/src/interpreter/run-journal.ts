import type { NewEvent } from "@workflow/events";
import type {
  AttemptRecord,
  ExecutionError,
  JournalEntry,
  OpenStep,
  StepRecord,
} from "../engine/journal.ts";
import type { RunStatus } from "../domain/run-status.ts";
import { isTerminal } from "../domain/run-status.ts";
import { runEvent } from "../engine/run-events.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import type { Lease } from "../task-runtime/port.ts";
import { LeaseLostError } from "./step-error.ts";

/** A step result from before, as the interpreter needs it to go on. */
export interface PastResult {
  status: StepRecord["status"];
  output: unknown;
  error: ExecutionError | null;
}

/** What earlier executions of a run have written. */
export interface RunHistory {
  results: ReadonlyMap<string, PastResult>;
  open: ReadonlyMap<string, OpenStep>;
  nextSeq: number;
  /** Execution time before this lease, in milliseconds (D28). */
  activeMs: number;
}

/** How an execution under one lease ended. */
export type Ending =
  | { status: "completed"; output: string }
  | { status: "failed" | "timeout"; error: ExecutionError }
  | { status: "running" | "suspended" | "waiting_approval"; wakeAt: Date | null };

/**
 * What one execution of a run has done and not written yet. Pure steps gather here and are written
 * together with the next thing that has to be; a step with an outside effect is written before the
 * next step begins.
 */
export class RunJournal {
  readonly #facts: RunFacts;
  readonly #lease: Lease;
  readonly #write: (entry: JournalEntry) => Promise<boolean>;
  readonly #history: RunHistory;
  readonly #activeFrom: number;
  #nextSeq: number;
  #startWritten: boolean;
  #results: StepRecord[] = [];
  #events: NewEvent[] = [];
  /** Begun and not ended; those from the history and those that were stored since are `#stored`. */
  readonly #open = new Map<string, OpenStep>();
  readonly #stored = new Set<string>();
  #dirty = new Set<string>();
  #closed: string[] = [];

  constructor(
    facts: RunFacts,
    lease: Lease,
    history: RunHistory,
    write: (entry: JournalEntry) => Promise<boolean>,
  ) {
    this.#facts = facts;
    this.#lease = lease;
    this.#history = history;
    this.#write = write;
    this.#activeFrom = Date.now();
    this.#nextSeq = history.nextSeq;
    this.#startWritten = facts.started;
    for (const path of history.open.keys()) this.#stored.add(path);
  }

  /** The result that an earlier execution wrote for a step, if any. */
  findPast(path: string): PastResult | undefined {
    return this.#history.results.get(path);
  }

  /** Begins a step, or goes on with one that had begun before. */
  begin(path: string): OpenStep {
    const open = this.#open.get(path) ?? this.#history.open.get(path) ?? this.#newStep(path);
    this.#open.set(path, open);
    return open;
  }

  /** Makes an open step wait; it is stored with the next write, and so are its containers. */
  hold(step: OpenStep, change: Partial<Pick<OpenStep, "dueAt" | "attempt" | "attemptGroup" | "previousAttempts">>) {
    Object.assign(step, change);
    this.#dirty.add(step.path);
  }

  /** Ends a step. */
  record(step: OpenStep, result: Omit<StepRecord, "path" | "seq" | "startedAt" | "attempt" | "previousAttempts">) {
    this.#results.push({
      path: step.path,
      seq: step.seq,
      startedAt: step.startedAt,
      attempt: step.attempt,
      previousAttempts: step.previousAttempts satisfies readonly AttemptRecord[],
      ...result,
    });
    this.#open.delete(step.path);
    this.#dirty.delete(step.path);
    if (this.#stored.delete(step.path)) this.#closed.push(step.path);
  }

  /** Announces that a long-running run got somewhere (D31). */
  announceCheckpoint(stepId: string): void {
    this.#events.push(runEvent("workflow.checkpoint", this.#facts, { status: "running", stepId }));
  }

  /** Makes it known that the run has begun, without waiting for the write; at most once. */
  markStarted(onLost: () => void): void {
    if (this.#startWritten) return;
    this.#send("keep", "running", null).then(
      (held) => {
        if (!held) onLost();
      },
      // The next checkpoint meets the same trouble and is waited for.
      () => {},
    );
  }

  /** Writes what has gathered and goes on. */
  async checkpoint(): Promise<void> {
    this.#storeOpenSteps();
    if (!(await this.#send("keep", "running", null))) throw new LeaseLostError();
  }

  /** Writes what has gathered and how the execution ended. */
  async end(ending: Ending): Promise<void> {
    const finished = isTerminal(ending.status);
    const wakeAt = "wakeAt" in ending ? ending.wakeAt : null;
    if (!finished) this.#storeOpenSteps();
    if (!(await this.#send(finished ? "done" : "park", ending.status, wakeAt, ending))) {
      throw new LeaseLostError();
    }
  }

  /** Drops the results that could not be written, so that the failure itself can be. */
  discard(): void {
    this.#results = [];
    this.#events = [];
    this.#dirty.clear();
  }

  /** Execution time of the run so far, in milliseconds. */
  get activeMs(): number {
    return this.#history.activeMs + (Date.now() - this.#activeFrom);
  }

  /** What is still open now holds steps whose results are stored: it must be found again. */
  #storeOpenSteps(): void {
    for (const path of this.#open.keys()) if (!this.#stored.has(path)) this.#dirty.add(path);
  }

  #newStep(path: string): OpenStep {
    return {
      path,
      seq: this.#nextSeq++,
      startedAt: new Date(),
      dueAt: null,
      attempt: 1,
      attemptGroup: 1,
      previousAttempts: [],
    };
  }

  #send(
    next: JournalEntry["next"],
    status: RunStatus,
    wakeAt: Date | null,
    ending?: Ending,
  ): Promise<boolean> {
    const finished = isTerminal(status);
    const completedAt = finished ? new Date() : null;
    const events = this.#events;
    if (!this.#startWritten) {
      events.unshift(runEvent("workflow.started", this.#facts, { status: "running" }));
      this.#startWritten = true;
    }
    const error = ending !== undefined && "error" in ending ? ending.error : null;
    if (completedAt !== null) {
      events.push(
        runEvent(`workflow.${status as "completed" | "failed" | "timeout"}`, this.#facts, {
          status,
          completedAt,
          ...(error === null ? {} : { error }),
        }),
      );
    }
    const resting = next === "park" || finished;
    const entry: JournalEntry = {
      lease: this.#lease,
      next,
      wakeAt,
      run: {
        status,
        startedAt: this.#facts.startedAt,
        completedAt,
        output: ending?.status === "completed" ? ending.output : null,
        error,
        activeMs: resting ? this.activeMs : this.#history.activeMs,
        activeSince: resting ? null : new Date(this.#activeFrom),
      },
      results: this.#results,
      opened: [...this.#dirty].flatMap((path) => this.#open.get(path) ?? []),
      closed: this.#closed,
      events,
    };
    for (const path of this.#dirty) this.#stored.add(path);
    this.#results = [];
    this.#events = [];
    this.#dirty = new Set();
    this.#closed = [];
    return this.#write(entry);
  }
}
