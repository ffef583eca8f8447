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
  stepId: string;
  status: StepRecord["status"];
  output: unknown;
  error: ExecutionError | null;
}

/** What earlier executions of a run have written. */
export interface RunHistory {
  /** By path, in the order in which the steps began. */
  results: ReadonlyMap<string, PastResult>;
  open: ReadonlyMap<string, OpenStep>;
  nextSeq: number;
  /** Execution time before this lease, in milliseconds (D28). */
  activeMs: number;
}

/** Documents of pure steps that are kept in memory before they are written. */
const GATHERED_CHARS_MAX = 8 * 1024 * 1024;

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
  #chars = 0;
  #events: NewEvent[] = [];
  /** Begun and not ended; those from the history and those that were stored since are `#stored`. */
  readonly #open = new Map<string, OpenStep>();
  readonly #stored = new Set<string>();
  #failure: Error | null = null;
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

  /** The results inside a step that had ended before, in the order in which the steps began. */
  *pastInside(path: string): Generator<PastResult> {
    const prefix = `${path}.`;
    for (const [resultPath, result] of this.#history.results) {
      if (resultPath.startsWith(prefix)) yield result;
    }
  }

  /** Begins a step, or goes on with one that had begun before. */
  begin(path: string): OpenStep {
    const open = this.#open.get(path) ?? this.#history.open.get(path) ?? this.#newStep(path);
    this.#open.set(path, open);
    return open;
  }

  /** Makes an open step wait; it is stored with the next write, and so are its containers. */
  hold(
    step: OpenStep,
    change: Partial<Pick<OpenStep, "dueAt" | "attempt" | "attemptGroup" | "previousAttempts">>,
  ) {
    Object.assign(step, change);
    this.#dirty.add(step.path);
  }

  /** Ends a step. */
  record(
    step: OpenStep,
    result: Omit<StepRecord, "path" | "seq" | "startedAt" | "attempt" | "previousAttempts">,
  ) {
    this.#chars += (result.input?.length ?? 0) + (result.output?.length ?? 0);
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

  /**
   * Makes it known that the run has begun with a step, without waiting for the write; at most once.
   *
   * @param onStop called when that could not be written, so that the execution is stopped
   */
  markStarted(step: OpenStep, onStop: () => void): void {
    if (this.#startWritten) return;
    this.#storeOpenSteps(step);
    void this.#writeStart(onStop);
  }

  /** Why the write that nobody waited for was refused; what it held is missing. */
  get failure(): Error | null {
    return this.#failure;
  }

  /** Whether so much has gathered that it should be written now. */
  get isFull(): boolean {
    return this.#chars > GATHERED_CHARS_MAX;
  }

  /** Writes what has gathered and goes on. */
  async checkpoint(): Promise<void> {
    this.#storeOpenSteps();
    if (!(await this.#send("keep", "running", null))) throw new LeaseLostError();
    this.#throwFailure();
  }

  /** Writes what has gathered and how the execution ended. */
  async end(ending: Ending): Promise<void> {
    const finished = isTerminal(ending.status);
    const wakeAt = "wakeAt" in ending ? ending.wakeAt : null;
    this.#throwFailure();
    if (!finished) this.#storeOpenSteps();
    if (!(await this.#send(finished ? "done" : "park", ending.status, wakeAt, ending))) {
      throw new LeaseLostError();
    }
  }

  /** Drops the results that could not be written, so that the failure itself can be. */
  discard(): void {
    this.#results = [];
    this.#chars = 0;
    this.#events = [];
    this.#dirty.clear();
    this.#failure = null;
  }

  /** Execution time of the run so far, in milliseconds. */
  get activeMs(): number {
    return this.#history.activeMs + (Date.now() - this.#activeFrom);
  }

  /** What is still open now holds steps whose results are stored: it must be found again. */
  #storeOpenSteps(except?: OpenStep): void {
    for (const [path, step] of this.#open) {
      if (step !== except && !this.#stored.has(path)) this.#dirty.add(path);
    }
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  async #writeStart(onStop: () => void): Promise<void> {
    try {
      if (await this.#send("keep", "running", null)) return;
      this.#failure = new LeaseLostError();
    } catch (cause) {
      this.#failure = new Error("the beginning of a run could not be written", { cause });
    }
    onStop();
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

  async #send(
    next: JournalEntry["next"],
    status: RunStatus,
    wakeAt: Date | null,
    ending?: Ending,
  ): Promise<boolean> {
    const finished = isTerminal(status);
    const completedAt = finished ? new Date() : null;
    const events = this.#events;
    const begins = !this.#startWritten;
    if (begins) {
      events.unshift(runEvent("workflow.started", this.#facts, { status: "running" }));
      this.#startWritten = true;
    }
    const error = ending !== undefined && "error" in ending ? ending.error : null;
    if (completedAt !== null && isTerminal(status)) {
      events.push(
        runEvent(`workflow.${status}`, this.#facts, {
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
      chars: this.#chars + (ending?.status === "completed" ? ending.output.length : 0),
    };
    for (const path of this.#dirty) this.#stored.add(path);
    this.#results = [];
    this.#chars = 0;
    this.#events = [];
    this.#dirty = new Set();
    this.#closed = [];
    try {
      return await this.#write(entry);
    } catch (error) {
      // What is written in its stead begins the run.
      if (begins) this.#startWritten = false;
      throw error;
    }
  }
}
