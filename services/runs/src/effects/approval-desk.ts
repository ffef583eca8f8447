import type { Database } from "@workflow/db";
import { newId } from "@workflow/db";
import type { ApprovalDesk } from "../interpreter/effects/approval-desk.ts";
import {
  cancelApproval,
  expireApproval,
  findApprovalOfStep,
  getApprovalState,
  insertApproval,
} from "../store/run-approvals.ts";

/** @see ApprovalDesk */
export function createApprovalDesk(database: Database): ApprovalDesk {
  return {
    find: (runId, attempt) => findApprovalOfStep(database, runId, attempt),
    get: (id) => getApprovalState(database, id),
    ask(facts, question) {
      const id = newId("apr_");
      return { write: (transaction) => insertApproval(transaction, id, facts, question) };
    },
    expire: (id) => ({ write: (transaction) => expireApproval(transaction, id) }),
    cancel: (id) => ({ write: (transaction) => cancelApproval(transaction, id) }),
  };
}
