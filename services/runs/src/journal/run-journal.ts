import type { NewEvent } from "@workflow/events";
import type { Clock } from "../domain/clock.ts";
import type { EndedRun } from "../domain/ended-run.ts";
import type { ExecutionError } from "../domain/execution-error.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import { isTerminal } from "../domain/run-status.ts";
import type { RunStatus, TerminalStatus } from "../domain/run-status.ts";
import type { AttemptRecord, OpenStep, StepRecord } from "../domain/step-records.ts";
import type { Advance, Lease } from "../task-runtime/port.ts";
import type { ActiveClock } from "./active-clock.ts";
import type { Ending } from "./ending.ts";
import type { JournalEntry } from "./journal-entry.ts";
import { LeaseLostError } from "./lease-lost-error.ts";
import { OpenSteps } from "./open-steps.ts";
import type { StagedWrite } from "./staged-write.ts";
import type { OpenStepChange } from "./open-steps.ts";
import { RunBudget } from "./run-budget.ts";
import { checkpointEvent, endedEvent, startedEvent } from "./run-events.ts";
import type { RunHistory } from "./run-history.ts";
import type { StepOutput, StepOutputs } from "./step-outputs.ts";
import { isInside, partInside } from "./step-results.ts";
import type { Part, StepResult } from "./step-results.ts";

/** Documents of pure steps that are kept in memory before they are written. */
const GATHERED_CHARS_MAX = 8 * 1024 * 1024;
/** Their number: writing a thousand takes about 20 ms, in which the process does nothing else. */
const GATHERED_MAX = 1_000;
/** What has gathered for so long is written: somebody may be watching while a slow step goes on. */
const FLUSH_MS = 250;

/** How a step ended, and its output with its JSON text. */
type EndedStep = Omit<
  StepRecord,
  "path" | "seq" | "startedAt" | "attempt" | "previousAttempts" | "output"
> & { output: { value: unknown; text: string } | null };

/** What a journal works with. */
export interface RunJournalOptions {
  facts: RunFacts;
  lease: Lease;
  history: RunHistory;
  outputs: StepOutputs;
  /** Most that the inputs and outputs of a run's steps may have together (D56). */
  bytesMax: number;
  clock: Clock;
  activeClock: ActiveClock;
  write: (entry: JournalEntry) => Promise<boolean>;
  /** Called when a write that nobody waits for was refused, so that the execution is stopped. */
  onRefused: () => void;
}

/**
 * What one execution of a run has done and not written yet. Pure steps gather here and are written
 * together with the next thing that has to be; a step with an outside effect is written before the
 * next step begins.
 */
export class RunJournal {
  readonly budget: RunBudget;
  readonly #facts: RunFacts;
  readonly #lease: Lease;
  /** Called when a write that nobody waits for was refused, so that the execution is stopped. */
  readonly #onRefused: () => void;
  readonly #write: (entry: JournalEntry) => Promise<boolean>;
  readonly #history: RunHistory;
  readonly #outputs: StepOutputs;
  readonly #clock: Clock;
  readonly #activeClock: ActiveClock;
  readonly #open: OpenSteps;
  #startWritten: boolean;
  #results: StepRecord[] = [];
  /** Their outputs. */
  #unwritten: StepOutput[] = [];
  #chars = 0;
  #events: NewEvent[] = [];
  #staged: StagedWrite[] = [];
  #forgotten: string[] = [];
  #dropped: string[] = [];
  #flushTimer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #failure: Error | null = null;
  #advance: Advance = { next: "release" };

  constructor({
    facts,
    lease,
    history,
    outputs,
    bytesMax,
    clock,
    activeClock,
    write,
    onRefused,
  }: RunJournalOptions) {
    this.#onRefused = onRefused;
    this.#facts = facts;
    this.#lease = lease;
    this.#history = history;
    this.#outputs = outputs;
    this.#clock = clock;
    this.#write = write;
    this.#activeClock = activeClock;
    this.#open = new OpenSteps(history.open, history.nextSeq, clock);
    this.budget = new RunBudget(history.results, this.#open, bytesMax);
    this.#startWritten = facts.started;
  }

  /** The result that an earlier execution wrote for a step, if any. */
  findPast(path: string): StepResult | undefined {
    return this.#history.results.find(path);
  }

  /** The results inside a step that had ended before, by path. */
  pastInside(path: string): readonly StepResult[] {
    return this.#history.results.inside(path);
  }

  /** Whether a step has begun and not ended, in this execution or an earlier one. */
  isBegun(path: string): boolean {
    return this.#open.has(path);
  }

  /** Whether an open step is stored, or will be with the next write. */
  isPersisted({ path }: OpenStep): boolean {
    return this.#open.isPersisted(path);
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

  /**
   * Forgets what steps inside a container did, because it is about to begin anew: the results, those
   * that are stored too, and the steps that wait.
   */
  forgetInside(path: string): void {
    this.#results = this.#results.filter((result) => !isInside(result.path, path));
    this.#outputs.forget(this.#history.results.inside(path).map(({ output }) => output));
    this.#history.results.forgetInside(path);
    this.#open.closeWhere((each) => isInside(each, path));
    this.#forgotten.push(path);
  }

  /**
   * Forgets the results of earlier executions in those parts of a container (branches by id, iterations
   * and items by number) that this execution does not enter.
   */
  forgetPast(path: string, isLeftOut: (part: Part) => boolean): void {
    const forgotten = this.#history.results.forgetParts(path, isLeftOut);
    if (forgotten.length === 0) return;
    this.#outputs.forget(forgotten.map(({ output }) => output));
    const dropped = forgotten.map((result) => result.path);
    const parts = new Set(dropped.map((each) => partInside(each, path)));
    const isGone = (each: string): boolean => {
      const part = partInside(each, path);
      return part !== null && parts.has(part);
    };
    this.#results = this.#results.filter((result) => !isGone(result.path));
    this.#open.closeWhere(isGone);
    this.#dropped.push(...dropped);
  }

  /** Makes an open step wait; it is stored with the next write, soon, and so are its containers. */
  persistWait(step: OpenStep, change: OpenStepChange): void {
    this.#open.persistWait(step, change);
    this.#flushSoon();
  }

  /**
   * Ends a step.
   *
   * @returns its output
   * @throws RunLimitError when the run would hold too much with it; then it has not ended
   */
  record(step: OpenStep, ended: EndedStep): StepOutput {
    const { output: made, ...result } = ended;
    const inputBytes = result.input === null ? 0 : Buffer.byteLength(result.input);
    const outputBytes = made === null ? 0 : Buffer.byteLength(made.text);
    this.budget.assertFits(inputBytes + outputBytes);
    const output = this.#outputs.add(step.path, made, outputBytes);
    this.#history.results.add({
      path: step.path,
      stepId: result.stepId,
      status: result.status,
      output,
      error: result.error,
      bytes: inputBytes + outputBytes,
    });
    this.#unwritten.push(output);
    this.#chars += (result.input?.length ?? 0) + (made?.text.length ?? 0);
    this.#results.push({
      output: made?.text ?? null,
      path: step.path,
      seq: step.seq,
      startedAt: step.startedAt,
      attempt: step.attempt,
      previousAttempts: step.previousAttempts satisfies readonly AttemptRecord[],
      ...result,
    });
    this.#open.close(step.path);
    this.#flushSoon();
    return output;
  }

  /** What an execution that goes on after a wait has to know; complete once the wait is written. */
  get history(): RunHistory {
    return {
      results: this.#history.results,
      open: this.#open.stored,
      nextSeq: this.#open.nextSeq,
    };
  }

  /** Writes this with the next checkpoint, which comes soon in any case. */
  stage(write: StagedWrite): void {
    this.#staged.push(write);
    this.#flushTimer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref();
  }

  /** Announces that a long-running run got somewhere (D31). */
  announceCheckpoint(stepId: string, status: RunStatus = "running"): void {
    this.#events.push(checkpointEvent(this.#facts, status, stepId));
  }

  /** Makes it known that the run has begun, without waiting for the write; at most once. */
  markStarted(): void {
    if (!this.#startWritten) this.#flush();
  }

  /** Whether a write has said that the run has begun, in this execution or an earlier one. */
  get hasBegun(): boolean {
    return this.#startWritten;
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
    this.#staged = [];
    this.#open.discard();
    this.#failure = null;
  }

  /** The execution is over, whether its end could be written or not. */
  close(): void {
    clearTimeout(this.#flushTimer);
  }

  /** How far the execution came, by what was written of its end. */
  get advance(): Advance {
    return this.#advance;
  }

  /** Execution time of the run so far, in milliseconds. */
  get activeMs(): number {
    return this.#activeClock.activeMs;
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  #flushSoon(): void {
    this.#flushTimer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref();
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
    const endsAt = Math.max(this.#clock.now(), this.#facts.startedAt.getTime());
    const completedAt = finished ? new Date(endsAt) : null;
    const events = this.#events;
    const begins = !this.#startWritten && status !== "pending" && status !== "cancelled";
    if (begins) {
      events.unshift(startedEvent(this.#facts));
      this.#startWritten = true;
    }
    const error = ending !== undefined && "error" in ending ? ending.error : null;
    const startedAt = this.#startWritten ? this.#facts.startedAt : null;
    if (completedAt !== null && isTerminal(status)) {
      events.push(endedEvent({ ...this.#facts, startedAt }, { status, completedAt, error }));
    }
    const countsTowardTimeout =
      ending !== undefined && "countsTowardTimeout" in ending && ending.countsTowardTimeout;
    const resting = (next === "park" && !countsTowardTimeout) || finished;
    const entry: JournalEntry = {
      lease: this.#lease,
      next,
      forMs: wakeAt === null ? null : Math.max(0, wakeAt.getTime() - this.#clock.now()),
      run: {
        status,
        startedAt,
        completedAt,
        output: ending?.status === "completed" ? ending.output : null,
        error,
        activeMs: this.activeMs,
        // Whoever takes it over charges the time from here on; a short wait is charged only then.
        activeForMs: resting ? null : 0,
      },
      results: this.#results,
      staged: this.#staged,
      ...this.#open.take(),
      forgotten: this.#forgotten,
      dropped: this.#dropped,
      waitsForRuns: this.#facts.waitsForRuns,
      asksApproval: this.#facts.asksApproval,
      ended: isTerminal(status) ? endedRun(this.#facts, status, error) : null,
      events,
      chars: this.#chars + (ending?.status === "completed" ? ending.output.length : 0),
    };
    const unwritten = this.#unwritten;
    this.#results = [];
    this.#unwritten = [];
    this.#chars = 0;
    this.#events = [];
    this.#staged = [];
    this.#forgotten = [];
    this.#dropped = [];
    try {
      const isWritten = await this.#write(entry);
      if (isWritten) this.#outputs.release(unwritten);
      if (isWritten && next === "done") this.#advance = { next };
      if (isWritten && next === "park") this.#advance = { next, forMs: entry.forMs };
      return isWritten;
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
