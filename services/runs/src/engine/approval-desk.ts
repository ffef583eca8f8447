import type { Database } from "@workflow/db";
import { newId } from "@workflow/db";
import { insertEvents } from "@workflow/events";
import type { RunFacts } from "../domain/run-facts.ts";
import { LeaseLostError } from "../interpreter/unwinding.ts";
import {
  cancelApproval,
  expireApproval,
  findApprovalOfStep,
  getApprovalState,
  insertApproval,
  lockLiveRun,
} from "../store/run-approvals.ts";
import type { ApprovalQuestion, ApprovalState } from "../store/run-approvals.ts";
import { runEvent } from "./run-events.ts";

/** The execution's side of approvals: asking, and looking whether somebody has decided (D29). */
export interface ApprovalDesk {
  /**
   * Where the approval of a step's attempt stands; it is asked for when that was not done before,
   * which is a checkpoint of the run (D31).
   *
   * @throws LeaseLostError when the run has ended meanwhile
   */
  ask(facts: RunFacts, question: ApprovalQuestion): Promise<ApprovalState>;
  /** Where an approval stands. */
  find(id: string): Promise<ApprovalState>;
  /** Gives an approval up whose time is over, unless somebody decided first; where it stands then. */
  expire(id: string): Promise<ApprovalState>;
  /** Gives an approval up that nobody waits for any more. */
  cancel(id: string): Promise<void>;
}

/** @param onEvents called after commits that put events into the outbox */
export function createApprovalDesk(database: Database, onEvents: () => void): ApprovalDesk {
  return {
    async ask(facts, question) {
      const known = await findApprovalOfStep(database, facts.id, question);
      if (known !== null) return known;
      const state = await database.transaction(async (transaction) => {
        if (!(await lockLiveRun(transaction, facts.id))) throw new LeaseLostError();
        const inserted = await insertApproval(transaction, newId("apr_"), facts, question);
        if (inserted === null) return findApprovalOfStep(transaction, facts.id, question);
        const event = runEvent("workflow.checkpoint", facts, {
          status: "waiting_approval",
          stepId: question.stepId,
        });
        await insertEvents(transaction, "runs", [event]);
        return inserted;
      });
      onEvents();
      if (state === null) throw new Error("an approval that was asked for is not there");
      return state;
    },
    find: (id) => getApprovalState(database, id),
    expire: (id) => expireApproval(database, id),
    cancel: (id) => cancelApproval(database, id),
  };
}
