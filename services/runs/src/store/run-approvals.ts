import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import type { RunFacts } from "../domain/run-facts.ts";

const nothing = z.object({});
const idRow = z.object({ id: z.string() });
const stateRow = z.object({
  id: z.string(),
  status: z.enum(["waiting", "approved", "rejected", "timed_out", "cancelled"]),
  timeout_at: z.date().nullable(),
  decided_by: z.string().nullable(),
  comment: z.string().nullable(),
  data: z.string().nullable(),
});

/** Where an approval stands, as the run that waits for it sees it. `data` is JSON text. */
export type ApprovalState = z.infer<typeof stateRow>;

/** What one attempt of an approval step asks. */
export interface ApprovalQuestion {
  stepId: string;
  path: string;
  /** Tells the attempts of the step apart. */
  attempt: string;
  message: string;
  /** JSON text of `{users, roles}`; null when everyone may decide. */
  approvers: string | null;
  /** JSON Schema as text. */
  form: string | null;
  timeoutAt: Date | null;
}

const STATE = sql.fragment`id, status, timeout_at, decided_by, comment, data::text`;

/** Keeps a run from ending until the transaction does; false when it has ended. */
export async function lockLiveRun(transaction: Transaction, runId: string): Promise<boolean> {
  const row = await transaction.maybeOne(sql.type(idRow)`
    select id from runs.runs where id = ${runId} and completed_at is null for share
  `);
  return row !== null;
}

/** The approval of one attempt of a step; null when it was not asked for. */
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

/** Asks for an approval; null when that was done already. */
export async function insertApproval(
  transaction: Transaction,
  id: string,
  run: RunFacts,
  question: ApprovalQuestion,
): Promise<ApprovalState | null> {
  return transaction.maybeOne(sql.type(stateRow)`
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
    returning ${STATE}
  `);
}

/** Where an approval stands. */
export async function getApprovalState(queryable: Queryable, id: string): Promise<ApprovalState> {
  return queryable.one(sql.prepared("approval_state", stateRow)`
    select ${STATE} from runs.approvals where id = ${id}
  `);
}

/** Times an approval out unless it was decided, and returns where it stands then. */
export async function expireApproval(queryable: Queryable, id: string): Promise<ApprovalState> {
  const expired = await queryable.maybeOne(sql.type(stateRow)`
    update runs.approvals
    set status = 'timed_out', decided_at = greatest(now(), timeout_at)
    where id = ${id} and status = 'waiting'
    returning ${STATE}
  `);
  return expired ?? getApprovalState(queryable, id);
}

/** Gives an approval up unless it was decided. */
export async function cancelApproval(queryable: Queryable, id: string): Promise<void> {
  await queryable.query(sql.type(nothing)`
    update runs.approvals
    set status = 'cancelled', decided_at = greatest(now(), created_at)
    where id = ${id} and status = 'waiting'
  `);
}
