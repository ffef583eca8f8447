import type { ApprovalQuestion, ApprovalState } from "../../domain/approval.ts";
import type { RunFacts } from "../../domain/run-facts.ts";
import type { StagedWrite } from "../../journal/staged-write.ts";

/**
 * The execution's side of approvals (D29). What changes one is staged, since an execution that lost its
 * lease must not take the question back that its successor waits for.
 */
export interface ApprovalDesk {
  /** The approval of a step's attempt; null when it was not asked for. */
  find(
    runId: string,
    attempt: Pick<ApprovalQuestion, "path" | "attempt">,
  ): Promise<ApprovalState | null>;
  /** Where an approval stands. */
  get(id: string): Promise<ApprovalState>;
  /** Asks for an approval, unless that was done before. */
  ask(facts: RunFacts, question: ApprovalQuestion): StagedWrite;
  /** Gives an approval up whose time is over, unless somebody decided first. */
  expire(id: string): StagedWrite;
  /** Gives an approval up that nobody waits for any more. */
  cancel(id: string): StagedWrite;
}
