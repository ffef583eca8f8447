import type { OpenStep } from "../domain/step-records.ts";
import type { StepResults } from "./step-results.ts";

/** What earlier executions of a run have written. */
export interface RunHistory {
  results: StepResults;
  /** Steps that have begun and not ended, by path. */
  open: Map<string, OpenStep>;
  /** The number that the next step gets. */
  nextSeq: number;
}
