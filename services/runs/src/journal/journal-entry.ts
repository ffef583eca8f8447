import type { NewEvent } from "@workflow/events";
import type { EndedRun } from "../domain/ended-run.ts";
import type { OpenStep, RunChange, StepRecord } from "../domain/step-records.ts";
import type { Lease } from "../task-runtime/port.ts";
import type { StagedWrite } from "./staged-write.ts";

/** Everything that one checkpoint of one run writes, in one transaction or not at all. */
export interface JournalEntry {
  lease: Lease;
  next: "keep" | "done" | "park";
  /** Only for `park`: the length of the rest in milliseconds; null: until the run is woken. */
  forMs: number | null;
  run: RunChange;
  results: readonly StepRecord[];
  opened: readonly OpenStep[];
  /** Paths of stored open steps that have ended. */
  closed: readonly string[];
  /** Paths of containers that begin anew. The stored results inside are deleted before new ones come. */
  forgotten: readonly string[];
  /** Paths of stored results that no longer count. */
  dropped: readonly string[];
  /** Whether the run's workflow has steps that wait for other runs. */
  waitsForRuns: boolean;
  /** Whether the run's workflow has approval steps. */
  asksApproval: boolean;
  /** The run, if this entry ends it. */
  ended: EndedRun | null;
  events: readonly NewEvent[];
  /** Other writes under the same fence. */
  staged: readonly StagedWrite[];
  /** The approximate number of characters in its documents. */
  chars: number;
}
