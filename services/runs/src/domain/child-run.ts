import type { ExecutionError } from "./execution-error.ts";
import type { RunStatus } from "./run-status.ts";

/** A child run as its parent sees it. */
export interface ChildRun {
  id: string;
  status: RunStatus;
  /** JSON text. */
  output: string | null;
  error: ExecutionError | null;
}
