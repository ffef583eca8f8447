import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { APPROVAL_STATUSES } from "../domain/approval.ts";
import type { ApprovalQuestion, ApprovalState } from "../domain/approval.ts";
import type { RunFacts } from "../domain/run-facts.ts";

const nothing = z.object({});
const stateRow = z.object({
  id: z.string(),
  status: z.enum(APPROVAL_STATUSES),
  timeoutAt: z.date().nullable(),
  decidedBy: z.string().nullable(),
  comment: z.string().nullable(),
  data: z.string().nullable(),
});

const STATE = sql.fragment`
  id, status, timeout_at as "timeoutAt", decided_by as "decidedBy", comment, data::text
`;

/** The approval of one attempt of a step; null when none was asked for. */
export async function findApprovalOfStep(
  queryable: Queryable,
  runId: string,
  { path, attempt }: Pick<ApprovalQuestion, "path" | "attempt">,
): Promise<ApprovalState | null> {
  return queryable.maybeOne(sql.prepared("approval_find_of_step", stateRow)`
    select ${STATE} from runs.approvals
    where run_id = ${runId} and path = ${path} and attempt = ${attempt}
  `);
}

/** Asks for an approval, unless that was done already. */
export async function insertApproval(
  transaction: Transaction,
  id: string,
  run: RunFacts,
  question: ApprovalQuestion,
): Promise<void> {
  await transaction.query(sql.prepared("approval_insert", nothing)`
    insert into runs.approvals (
      id, company_id, workflow_id, run_id, step_id, path, attempt, message, approvers, form,
      timeout_at, created_at
    )
    values (
      ${id}, ${run.companyId}, ${run.workflowId}, ${run.id}, ${question.stepId}, ${question.path},
      ${question.attempt}, ${question.message}, ${question.approvers}, ${question.form},
      ${question.timeoutAt?.toISOString() ?? null}, now()
    )
    on conflict on constraint approvals_step_key do nothing
  `);
}

/** The present state of an approval. */
export async function getApprovalState(queryable: Queryable, id: string): Promise<ApprovalState> {
  return queryable.one(sql.prepared("approval_state", stateRow)`
    select ${STATE} from runs.approvals where id = ${id}
  `);
}

/** Times an approval out unless it was decided. */
export async function expireApproval(queryable: Queryable, id: string): Promise<void> {
  await queryable.query(sql.type(nothing)`
    update runs.approvals
    set status = 'timed_out', decided_at = greatest(now(), timeout_at)
    where id = ${id} and status = 'waiting'
  `);
}

/** Cancels an approval unless it was decided. */
export async function cancelApproval(queryable: Queryable, id: string): Promise<void> {
  await queryable.query(sql.type(nothing)`
    update runs.approvals
    set status = 'cancelled', decided_at = greatest(now(), created_at)
    where id = ${id} and status = 'waiting'
  `);
}
