import type { NewEvent } from "@workflow/events";
import type { StepRecord } from "../domain/step-records.ts";
import type { StagedWrite } from "./staged-write.ts";
import type { StepOutput } from "./step-outputs.ts";

/** Characters of pure steps' documents that are kept in memory before they are written. */
const CHARS_MAX = 8 * 1024 * 1024;
/**
 * The number of pure steps kept. Writing a thousand takes about 20 ms, during which the process does
 * nothing else.
 */
const RESULTS_MAX = 1_000;

/** What the next entry of a run's journal writes, apart from its open steps. */
export interface UnwrittenResults {
  readonly results: readonly StepRecord[];
  /** The outputs of the results, and of those that were discarded. */
  readonly outputs: readonly StepOutput[];
  readonly events: readonly NewEvent[];
  readonly staged: readonly StagedWrite[];
  /** Paths of containers that begin anew. */
  readonly forgotten: readonly string[];
  /** Paths of stored results that no longer count. */
  readonly dropped: readonly string[];
  /** The number of characters in the documents of the results. */
  readonly chars: number;
}

/** The results, events and staged writes of one execution that no entry has taken yet. */
export class Unwritten {
  #results: StepRecord[] = [];
  #outputs: StepOutput[] = [];
  #chars = 0;
  #events: NewEvent[] = [];
  #staged: StagedWrite[] = [];
  #forgotten: string[] = [];
  #dropped: string[] = [];

  /** Whether so many results have accumulated that they should be written now. */
  get isFull(): boolean {
    return this.#chars > CHARS_MAX || this.#results.length >= RESULTS_MAX;
  }

  /** Adds the result of a step. */
  add(result: StepRecord, output: StepOutput): void {
    this.#results.push(result);
    this.#outputs.push(output);
    this.#chars += (result.input?.length ?? 0) + (result.output?.length ?? 0);
  }

  addEvent(event: NewEvent): void {
    this.#events.push(event);
  }

  stage(write: StagedWrite): void {
    this.#staged.push(write);
  }

  /** Drops all results inside a container, stored ones too, because the container begins anew. */
  forgetInside(path: string, isMeant: (path: string) => boolean): void {
    this.#removeResults(isMeant);
    this.#forgotten.push(path);
  }

  /** Drops results, of which some are stored. */
  drop(stored: readonly string[], isMeant: (path: string) => boolean): void {
    this.#removeResults(isMeant);
    this.#dropped.push(...stored);
  }

  /** Returns everything for the next entry, which counts as written from then on. */
  take(): UnwrittenResults {
    const taken = {
      results: this.#results,
      outputs: this.#outputs,
      events: this.#events,
      staged: this.#staged,
      forgotten: this.#forgotten,
      dropped: this.#dropped,
      chars: this.#chars,
    };
    this.discard();
    this.#outputs = [];
    this.#forgotten = [];
    this.#dropped = [];
    return taken;
  }

  /** Drops the results, events and staged writes. Stored results that no longer count are still removed. */
  discard(): void {
    this.#results = [];
    this.#chars = 0;
    this.#events = [];
    this.#staged = [];
  }

  #removeResults(isMeant: (path: string) => boolean): void {
    this.#results = this.#results.filter(({ path }) => !isMeant(path));
  }
}
