import type { Clock } from "../domain/clock.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import { isTerminal } from "../domain/run-status.ts";
import type { RunStatus } from "../domain/run-status.ts";
import type { AttemptRecord, OpenStep, StepRecord } from "../domain/step-records.ts";
import type { Advance, Lease } from "../task-runtime/port.ts";
import type { ActiveClock } from "./active-clock.ts";
import { finalCheckpoint, GOES_ON, toJournalEntry } from "./checkpoint.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Ending } from "./ending.ts";
import type { JournalEntry } from "./journal-entry.ts";
import { LeaseLostError } from "./lease-lost-error.ts";
import { OpenSteps } from "./open-steps.ts";
import type { StagedWrite } from "./staged-write.ts";
import type { OpenStepChange } from "./open-steps.ts";
import { RunBudget } from "./run-budget.ts";
import { checkpointEvent } from "./run-events.ts";
import type { RunHistory } from "./run-history.ts";
import type { StepOutput, StepOutputs } from "./step-outputs.ts";
import { isInside, partInside } from "./step-results.ts";
import type { Part, StepResult } from "./step-results.ts";
import { Unwritten } from "./unwritten.ts";

/** Unwritten results are written after this time: somebody may be watching while a slow step goes on. */
const FLUSH_MS = 250;

/** The end of a step: its output and the output's JSON text. */
type EndedStep = Omit<
  StepRecord,
  "path" | "seq" | "startedAt" | "attempt" | "previousAttempts" | "output"
> & { output: { value: unknown; text: string } | null };

/** The options of a run's journal. */
export interface RunJournalOptions {
  facts: RunFacts;
  lease: Lease;
  history: RunHistory;
  outputs: StepOutputs;
  /** The most bytes that the inputs and outputs of a run's steps may have together (D56). */
  bytesMax: number;
  clock: Clock;
  activeClock: ActiveClock;
  write: (entry: JournalEntry) => Promise<boolean>;
  /** Called when a write that nobody waits for was refused, so that the execution is stopped. */
  onRefused: () => void;
}

/**
 * The results of one execution of a run that are not written yet. Results of pure steps accumulate here,
 * and are written with the next entry that must be written. A step with an outside effect is written
 * before the next step begins.
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
  readonly #unwritten = new Unwritten();
  #startWritten: boolean;
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

  /** The recorded results inside a step, by path. */
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

  /** Whether any step inside a block has begun and not ended. */
  isBegunInside(prefix: string): boolean {
    return this.#open.hasBefore(prefix);
  }

  /**
   * Begins a step, or goes on with one that had begun before.
   *
   * @param container whether the step runs other steps: their stored results need it to be found again
   */
  begin(path: string, container: boolean): OpenStep {
    return this.#open.begin(path, container);
  }

  /**
   * Drops all that steps inside a container did, because the container begins anew: their results, stored
   * ones too, and their waits.
   */
  forgetInside(path: string): void {
    const isMeant = (each: string): boolean => isInside(each, path);
    this.#outputs.forget(this.#history.results.inside(path).map(({ output }) => output));
    this.#history.results.forgetInside(path);
    this.#open.closeWhere(isMeant);
    this.#unwritten.forgetInside(path, isMeant);
  }

  /**
   * Drops the results of earlier executions in the parts of a container (branches by id, iterations and
   * items by number) that this execution does not enter.
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
    this.#open.closeWhere(isGone);
    this.#unwritten.drop(dropped, isGone);
  }

  /**
   * Makes an open step wait. The wait and its containers are stored with the next write, which comes
   * soon.
   */
  persistWait(step: OpenStep, change: OpenStepChange): void {
    this.#open.persistWait(step, change);
    this.#flushSoon();
  }

  /**
   * Ends a step.
   *
   * @returns its output
   * @throws RunLimitError when the run would hold too much; then the step has not ended
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
    const record: StepRecord = {
      output: made?.text ?? null,
      path: step.path,
      seq: step.seq,
      startedAt: step.startedAt,
      attempt: step.attempt,
      previousAttempts: step.previousAttempts satisfies readonly AttemptRecord[],
      ...result,
    };
    this.#unwritten.add(record, output);
    this.#open.close(step.path);
    this.#flushSoon();
    return output;
  }

  /** The history for the execution after a wait. The history is complete once the wait is written. */
  get history(): RunHistory {
    return {
      results: this.#history.results,
      open: this.#open.stored,
      nextSeq: this.#open.nextSeq,
    };
  }

  /** Adds a write to the next checkpoint, which comes soon in any case. */
  stage(write: StagedWrite): void {
    this.#unwritten.stage(write);
    this.#flushSoon();
  }

  /** Announces that a long-running run has reached a step (D31). */
  announceCheckpoint(stepId: string, status: RunStatus = "running"): void {
    this.#unwritten.addEvent(checkpointEvent(this.#facts, status, stepId));
  }

  /** Stores at most once that the run has begun, without waiting for the write. */
  markStarted(): void {
    if (!this.#startWritten) this.#flush();
  }

  /** Whether a write has stored that the run has begun, in this execution or an earlier one. */
  get hasBegun(): boolean {
    return this.#startWritten;
  }

  /** The error of a refused write that nobody waited for. Its results are missing. */
  get failure(): Error | null {
    return this.#failure;
  }

  /** Whether so many results have accumulated that they should be written now. */
  get isFull(): boolean {
    return this.#unwritten.isFull;
  }

  /** Writes the accumulated results and goes on. */
  async checkpoint(): Promise<void> {
    this.#open.storeContainers();
    if (!(await this.#send(GOES_ON))) throw new LeaseLostError();
    this.#throwFailure();
  }

  /** Writes the accumulated results and how the execution ended. */
  async end(ending: Ending): Promise<void> {
    // No flush may begin while this one waits for an earlier flush: a failed one would leave a run that
    // has ended without those results. What an earlier flush holds is written before the end, or there is
    // no end.
    clearTimeout(this.#flushTimer);
    await this.#flushing;
    this.#throwFailure();
    if (!isTerminal(ending.status)) this.#open.storeContainers();
    if (!(await this.#send(finalCheckpoint(ending)))) throw new LeaseLostError();
  }

  /** Drops the results that could not be written, so that the failure itself can be. */
  discard(): void {
    this.#unwritten.discard();
    this.#open.discard();
    this.#failure = null;
  }

  /** Ends the execution, whether its end could be written or not. */
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

  /** Writes accumulated results while the execution goes on. A refusal stops the execution. */
  #flush(): void {
    this.#open.storeContainers();
    this.#flushing = this.#sendFlush();
  }

  async #sendFlush(): Promise<void> {
    try {
      if (await this.#send(GOES_ON)) return;
      this.#failure = new LeaseLostError();
    } catch (cause) {
      this.#failure = new Error("the results of a run could not be written", { cause });
    }
    this.#onRefused();
  }

  /** @returns whether the entry was written; false when the lease is lost */
  async #send(checkpoint: Checkpoint): Promise<boolean> {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    const { next, status } = checkpoint;
    const begins = !this.#startWritten && status !== "pending" && status !== "cancelled";
    if (begins) this.#startWritten = true;
    const run = {
      facts: this.#facts,
      lease: this.#lease,
      begins,
      hasBegun: this.#startWritten,
      now: this.#clock.now(),
      activeMs: this.activeMs,
    };
    const unwritten = this.#unwritten.take();
    const entry = toJournalEntry(run, checkpoint, unwritten, this.#open.take());
    try {
      const isWritten = await this.#write(entry);
      if (isWritten) this.#outputs.release(unwritten.outputs);
      if (isWritten && next === "done") this.#advance = { next };
      if (isWritten && next === "park") this.#advance = { next, forMs: entry.forMs };
      return isWritten;
    } catch (error) {
      // The entry that is written instead begins the run.
      if (begins) this.#startWritten = false;
      throw error;
    }
  }
}
