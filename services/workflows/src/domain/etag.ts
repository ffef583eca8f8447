import { AppError } from "@workflow/errors";
import type { EtagCondition } from "@workflow/proto/workflows/v1/workflows";
import type { Status } from "./status.ts";

/** The parts of a workflow's entity tag. */
export interface Tagged {
  contentRevision: number;
  deployRevision: number;
  status: Status;
}

/**
 * The strong entity tag of a workflow (RFC 9110, section 8.8.3). It differs after each change that
 * a caller can see: content and canvas raise the first revision, activation and pause the second.
 * Archiving is final and shows in the status.
 */
export function etagOf({ contentRevision, deployRevision, status }: Tagged): string {
  return `"${contentRevision}-${deployRevision}-${status}"`;
}

/**
 * Checks the expected version of a workflow.
 *
 * @throws AppError PRECONDITION_FAILED when it is another
 */
export function requireMatch(expected: EtagCondition | undefined, workflow: Tagged): void {
  if (expected === undefined || expected.etags.includes(etagOf(workflow))) return;
  throw new AppError(
    "PRECONDITION_FAILED",
    "The workflow has changed since it was read. Read it again and repeat the change.",
  );
}
