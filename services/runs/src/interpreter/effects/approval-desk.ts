import type { ApprovalQuestion, ApprovalState } from "../../domain/approval.ts";
import type { RunFacts } from "../../domain/run-facts.ts";
import type { StagedWrite } from "../../journal/staged-write.ts";

/**
 * The execution's side of approvals (D29). Changes are staged: an execution that lost its lease must not
 * withdraw the question that its successor waits for.
 */
export interface ApprovalDesk {
  /** The approval of a step's attempt; null when none was asked for. */
  find(
    runId: string,
    attempt: Pick<ApprovalQuestion, "path" | "attempt">,
  ): Promise<ApprovalState | null>;
  /** The present state of an approval. */
  get(id: string): Promise<ApprovalState>;
  /** Asks for an approval, unless that was done before. */
  ask(facts: RunFacts, question: ApprovalQuestion): StagedWrite;
  /** Ends an approval whose time is over, unless somebody decided first. */
  expire(id: string): StagedWrite;
  /** Cancels an approval that no step waits for any more. */
  cancel(id: string): StagedWrite;
}
