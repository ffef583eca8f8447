import { AppError } from "@workflow/errors";
import type { EtagCondition } from "@workflow/proto/workflows/v1/workflows";
import type { Status } from "./status.ts";

/** What a workflow's entity tag is made of. */
export interface Tagged {
  contentRevision: number;
  deployRevision: number;
  status: Status;
}

/**
 * The strong entity tag of a workflow (RFC 9110, section 8.8.3): differs after each change that a
 * caller can see. Content and canvas raise the first revision, activation and pause the second, and
 * archiving, which nothing comes after, shows in the status.
 */
export function etagOf({ contentRevision, deployRevision, status }: Tagged): string {
  return `"${contentRevision}-${deployRevision}-${status}"`;
}

/** @throws AppError PRECONDITION_FAILED unless the workflow is as a request expects it to be */
export function requireMatch(expected: EtagCondition | undefined, workflow: Tagged): void {
  if (expected === undefined || expected.etags.includes(etagOf(workflow))) return;
  throw new AppError(
    "PRECONDITION_FAILED",
    "The workflow has changed since it was read. Read it again and repeat the change.",
  );
}
