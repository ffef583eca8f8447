import type { NewEvent } from "@workflow/events";
import type { EndedRun } from "../domain/ended-run.ts";
import type { OpenStep, RunChange, StepRecord } from "../domain/step-records.ts";
import type { Lease } from "../task-runtime/port.ts";
import type { StagedWrite } from "./staged-write.ts";

/** Everything that one checkpoint of one run writes, in one transaction or not at all. */
export interface JournalEntry {
  lease: Lease;
  next: "keep" | "done" | "park";
  /** Only for `park`: for how long, in milliseconds; null: until it is woken. */
  forMs: number | null;
  run: RunChange;
  results: readonly StepRecord[];
  opened: readonly OpenStep[];
  /** Paths of stored open steps that have ended. */
  closed: readonly string[];
  /** Paths of containers that begin anew: the stored results inside go before new ones come. */
  forgotten: readonly string[];
  /** Paths of stored results that count no more. */
  dropped: readonly string[];
  /** Whether the run's workflow has steps that wait for other runs. */
  waitsForRuns: boolean;
  /** Whether the run's workflow has approval steps. */
  asksApproval: boolean;
  /** The run, when this ends it. */
  ended: EndedRun | null;
  events: readonly NewEvent[];
  /** What else is written under the same fence. */
  staged: readonly StagedWrite[];
  /** About how many characters of documents it holds. */
  chars: number;
}
