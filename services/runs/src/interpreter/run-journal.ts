import type { NewEvent } from "@workflow/events";
import type { ExecutionError } from "../domain/execution-error.ts";
import type { AttemptRecord, JournalEntry, OpenStep, StepRecord } from "../engine/journal.ts";
import type { RunStatus, TerminalStatus } from "../domain/run-status.ts";
import { isTerminal } from "../domain/run-status.ts";
import { runEvent } from "../engine/run-events.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import type { Lease } from "../task-runtime/port.ts";
import type { EndedRun } from "../engine/end-hooks.ts";
import type { PastResult, PastResults } from "./past-results.ts";
import { OpenSteps } from "./open-steps.ts";
import type { OpenStepChange } from "./open-steps.ts";
import { StepError } from "./step-error.ts";
import { LeaseLostError } from "./unwinding.ts";

/** What earlier executions of a run have written. */
export interface RunHistory {
  results: PastResults;
  open: Map<string, OpenStep>;
  nextSeq: number;
  /** Execution time before this lease, in milliseconds (D28). */
  activeMs: number;
}

/** Steps that one run may execute, iterations included: more could not be taken up again in time. */
const STEPS_MAX = 50_000;
/** Documents of pure steps that are kept in memory before they are written. */
const GATHERED_CHARS_MAX = 8 * 1024 * 1024;
/** Their number: writing a thousand takes about 20 ms, in which the process does nothing else. */
const GATHERED_MAX = 1_000;
/** What has gathered for so long is written: somebody may be watching while a slow step goes on. */
const FLUSH_MS = 250;

/** How an execution under one lease ended. */
export type Ending =
  | { status: "completed"; output: string }
  | { status: "failed" | "timeout"; error: ExecutionError }
  /** The concurrency limit gave it no slot (D15). */
  | { status: "cancelled"; error: ExecutionError }
  | {
      status: "running" | "suspended" | "waiting_approval";
      wakeAt: Date | null;
      /** Whether the wait counts against the run's own timeout (D28). */
      counts: boolean;
    }
  /** It queues for a slot and has not begun. */
  | { status: "pending"; wakeAt: null };

/**
 * What one execution of a run has done and not written yet. Pure steps gather here and are written
 * together with the next thing that has to be; a step with an outside effect is written before the
 * next step begins.
 */
export class RunJournal {
  readonly #facts: RunFacts;
  readonly #lease: Lease;
  /** Called when a write that nobody waits for was refused, so that the execution is stopped. */
  readonly #onRefused: () => void;
  readonly #write: (entry: JournalEntry) => Promise<boolean>;
  readonly #history: RunHistory;
  readonly #activeFrom: number;
  readonly #open: OpenSteps;
  #startWritten: boolean;
  #results: StepRecord[] = [];
  #chars = 0;
  #events: NewEvent[] = [];
  #forgotten: string[] = [];
  #flushTimer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #failure: Error | null = null;

  constructor(
    facts: RunFacts,
    lease: Lease,
    history: RunHistory,
    write: (entry: JournalEntry) => Promise<boolean>,
    onRefused: () => void,
  ) {
    this.#onRefused = onRefused;
    this.#facts = facts;
    this.#lease = lease;
    this.#history = history;
    this.#write = write;
    this.#activeFrom = Date.now();
    this.#open = new OpenSteps(history.open, history.nextSeq);
    this.#startWritten = facts.started;
  }

  /** The result that an earlier execution wrote for a step, if any. */
  findPast(path: string): PastResult | undefined {
    return this.#history.results.find(path);
  }

  /** The results inside a step that had ended before, by path. */
  pastInside(path: string): readonly PastResult[] {
    return this.#history.results.inside(path);
  }

  /** Whether a step has begun and not ended, in this execution or an earlier one. */
  isBegun(path: string): boolean {
    return this.#open.has(path);
  }

  /** Whether an open step is stored, or will be with the next write. */
  isHeld({ path }: OpenStep): boolean {
    return this.#open.isHeld(path);
  }

  /** Whether any step inside a block has begun before and not ended. */
  isBegunInside(prefix: string): boolean {
    return this.#open.hasBefore(prefix);
  }

  /**
   * Begins a step, or goes on with one that had begun before.
   *
   * @param container whether it runs other steps: their stored results need it to be found again
   */
  begin(path: string, container: boolean): OpenStep {
    return this.#open.begin(path, container);
  }

  /** @throws StepError when the run has begun more steps than one may */
  assertRoom(): void {
    if (this.#open.begun <= STEPS_MAX) return;
    throw new StepError("RUN_TOO_LONG", `A run executes at most ${STEPS_MAX} steps in all.`, {
      retryable: false,
    });
  }

  /**
   * Forgets what steps inside a container did, because it is about to begin anew: the results, those
   * that are stored too, and the steps that wait.
   */
  forgetInside(path: string): void {
    const isInside = (each: string): boolean => isInsideOf(each, path);
    this.#results = this.#results.filter((result) => !isInside(result.path));
    this.#history.results.forgetInside(path);
    this.#open.closeWhere(isInside);
    this.#forgotten.push(path);
  }

  /**
   * Forgets the results of earlier executions in those parts of a container (branches by id, iterations
   * and items by number) that this execution does not enter.
   */
  forgetPast(path: string, isLeftOut: (part: string | number) => boolean): void {
    const parts = this.#history.results.partsOf(path).filter(isLeftOut);
    for (const part of parts) {
      this.forgetInside(typeof part === "number" ? `${path}[${part}]` : `${path}.${part}`);
    }
  }

  /** Makes an open step wait; it is stored with the next write, and so are its containers. */
  hold(step: OpenStep, change: OpenStepChange): void {
    this.#open.hold(step, change);
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
    this.#open.close(step.path);
    this.#flushTimer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref();
  }

  /** Announces that a long-running run got somewhere (D31). */
  announceCheckpoint(stepId: string): void {
    this.#events.push(runEvent("workflow.checkpoint", this.#facts, { status: "running", stepId }));
  }

  /** Makes it known that the run has begun, without waiting for the write; at most once. */
  markStarted(): void {
    if (!this.#startWritten) this.#flush();
  }

  /** Why the write that nobody waited for was refused; what it held is missing. */
  get failure(): Error | null {
    return this.#failure;
  }

  /** Whether so much has gathered that it should be written now. */
  get isFull(): boolean {
    return this.#chars > GATHERED_CHARS_MAX || this.#results.length >= GATHERED_MAX;
  }

  /** Writes what has gathered and goes on. */
  async checkpoint(): Promise<void> {
    this.#open.storeContainers();
    if (!(await this.#send("keep", "running", null))) throw new LeaseLostError();
    this.#throwFailure();
  }

  /** Writes what has gathered and how the execution ended. */
  async end(ending: Ending): Promise<void> {
    const finished = isTerminal(ending.status);
    const wakeAt = "wakeAt" in ending ? ending.wakeAt : null;
    // No flush may begin while one is awaited here: if it failed, its results would be missing from a
    // run that has ended. What an earlier one holds comes before the end, or there is none.
    clearTimeout(this.#flushTimer);
    await this.#flushing;
    this.#throwFailure();
    if (!finished) this.#open.storeContainers();
    if (!(await this.#send(finished ? "done" : "park", ending.status, wakeAt, ending))) {
      throw new LeaseLostError();
    }
  }

  /** Drops the results that could not be written, so that the failure itself can be. */
  discard(): void {
    this.#results = [];
    this.#chars = 0;
    this.#events = [];
    this.#open.discard();
    this.#failure = null;
  }

  /** The execution is over, whether its end could be written or not. */
  close(): void {
    clearTimeout(this.#flushTimer);
  }

  /** Execution time of the run so far, in milliseconds. */
  get activeMs(): number {
    return this.#history.activeMs + (Date.now() - this.#activeFrom);
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  /** Writes what has gathered while the execution goes on; a refusal stops it. */
  #flush(): void {
    this.#open.storeContainers();
    this.#flushing = this.#sendFlush();
  }

  async #sendFlush(): Promise<void> {
    try {
      if (await this.#send("keep", "running", null)) return;
      this.#failure = new LeaseLostError();
    } catch (cause) {
      this.#failure = new Error("what a run did could not be written", { cause });
    }
    this.#onRefused();
  }

  async #send(
    next: JournalEntry["next"],
    status: RunStatus,
    wakeAt: Date | null,
    ending?: Ending,
  ): Promise<boolean> {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    const finished = isTerminal(status);
    const completedAt = finished ? new Date() : null;
    const events = this.#events;
    const begins = !this.#startWritten && status !== "pending" && status !== "cancelled";
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
    const counts = ending !== undefined && "counts" in ending && ending.counts;
    const resting = (next === "park" && !counts) || finished;
    const entry: JournalEntry = {
      lease: this.#lease,
      next,
      wakeAt,
      run: {
        status,
        startedAt: this.#startWritten ? this.#facts.startedAt : null,
        completedAt,
        output: ending?.status === "completed" ? ending.output : null,
        error,
        activeMs: resting ? this.activeMs : this.#history.activeMs,
        activeSince: resting ? null : new Date(this.#activeFrom),
      },
      results: this.#results,
      ...this.#open.take(),
      forgotten: this.#forgotten,
      waitsForRuns: this.#facts.waitsForRuns,
      asksApproval: this.#facts.asksApproval,
      ended: isTerminal(status) ? endedRun(this.#facts, status, error) : null,
      events,
      chars: this.#chars + (ending?.status === "completed" ? ending.output.length : 0),
    };
    this.#results = [];
    this.#chars = 0;
    this.#events = [];
    this.#forgotten = [];
    try {
      return await this.#write(entry);
    } catch (error) {
      // What is written in its stead begins the run.
      if (begins) this.#startWritten = false;
      throw error;
    }
  }
}

function endedRun(facts: RunFacts, status: TerminalStatus, error: ExecutionError | null): EndedRun {
  const { id, workflowId, triggerType, scheduleId, waitingParentRunId, limited } = facts;
  return {
    runId: id,
    workflowId,
    status,
    error,
    triggerType,
    scheduleId,
    waitingParentRunId,
    limited,
  };
}

/** Whether a path lies inside a container's. */
function isInsideOf(path: string, containerPath: string): boolean {
  if (!path.startsWith(containerPath)) return false;
  const next = path[containerPath.length];
  return next === "." || next === "[";
}
