import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { APPROVAL_STATUSES } from "../domain/approval.ts";
import type { ApprovalStatus } from "../domain/approval.ts";
import { approversSchema } from "../domain/approvers.ts";

const approvalRow = z.object({
  id: z.string(),
  runId: z.string(),
  workflowId: z.string(),
  stepId: z.string(),
  path: z.string(),
  status: z.enum(APPROVAL_STATUSES),
  message: z.string(),
  form: z.string().nullable(),
  timeoutAt: z.date().nullable(),
  createdAt: z.date(),
  decidedAt: z.date().nullable(),
  decidedBy: z.string().nullable(),
  comment: z.string().nullable(),
  data: z.string().nullable(),
});
const openApprovalRow = z.object({
  status: z.enum(APPROVAL_STATUSES),
  approvers: approversSchema.nullable(),
  form: z.string().nullable(),
});
const standingRow = z.object({
  status: z.enum(APPROVAL_STATUSES),
  overdue: z.boolean().nullable(),
  runEnded: z.boolean(),
});
const nothing = z.object({});

/** An approval; documents are JSON text. */
export type ApprovalRow = z.infer<typeof approvalRow>;

const COLUMNS = sql.fragment`
  id, run_id as "runId", workflow_id as "workflowId", step_id as "stepId", path, status, message,
  form::text, timeout_at as "timeoutAt", created_at as "createdAt",
  decided_at as "decidedAt", decided_by as "decidedBy", comment, data::text
`;

/** The approvals of one run in the order in which they were asked for. */
export async function listRunApprovals(
  queryable: Queryable,
  companyId: string,
  runId: string,
): Promise<readonly ApprovalRow[]> {
  return queryable.any(sql.prepared("approvals_of_run", approvalRow)`
    select ${COLUMNS} from runs.approvals
    where run_id = ${runId} and company_id = ${companyId}
    order by id
  `);
}

/** A company's approvals, newest first, after the one with the id `after`. */
export async function listApprovals(
  queryable: Queryable,
  companyId: string,
  status: ApprovalStatus | null,
  page: { after: string | null; limit: number },
): Promise<readonly ApprovalRow[]> {
  const ofStatus = status === null ? sql.fragment`` : sql.fragment`and status = ${status}`;
  const after = page.after === null ? sql.fragment`` : sql.fragment`and id < ${page.after}`;
  return queryable.any(sql.type(approvalRow)`
    select ${COLUMNS} from runs.approvals
    where company_id = ${companyId} ${ofStatus} ${after}
    order by id desc
    limit ${page.limit}
  `);
}

/** Identifies an approval of a run. */
export interface ApprovalKey {
  companyId: string;
  runId: string;
  approvalId: string;
}

/** What a decision is checked against; null when there is no such approval. */
export async function findOpenApproval(
  queryable: Queryable,
  { companyId, runId, approvalId }: ApprovalKey,
) {
  return queryable.maybeOne(sql.prepared("approval_open", openApprovalRow)`
    select status, approvers, form::text from runs.approvals
    where id = ${approvalId} and run_id = ${runId} and company_id = ${companyId}
  `);
}

/** A decision. */
export interface Decision {
  status: "approved" | "rejected";
  decidedBy: string;
  comment: string | null;
  /** JSON text. */
  data: string | null;
}

/**
 * Decides an approval that waits, in time and for a run that has not ended; null otherwise. The run's
 * task must be locked before, in the order in which workers lock.
 */
export async function decideApproval(
  transaction: Transaction,
  { companyId, runId, approvalId }: ApprovalKey,
  { status, decidedBy, comment, data }: Decision,
): Promise<ApprovalRow | null> {
  return transaction.maybeOne(sql.prepared("approval_decide", approvalRow)`
    update runs.approvals
    set status = ${status}, decided_at = greatest(now(), created_at), decided_by = ${decidedBy},
      comment = ${comment}, data = ${data}
    where id = ${approvalId} and run_id = ${runId} and company_id = ${companyId}
      and status = 'waiting'
      and (timeout_at is null or timeout_at > now())
      and exists (
        select from runs.runs as run where run.id = approvals.run_id and run.completed_at is null
      )
    returning ${COLUMNS}
  `);
}

/**
 * The status of an approval that could not be decided. One whose time is over gets the status that it
 * will have.
 */
export async function getUndecidableStatus(
  queryable: Queryable,
  { companyId, runId, approvalId }: ApprovalKey,
): Promise<ApprovalStatus> {
  const row = await queryable.one(sql.type(standingRow)`
    select approval.status, approval.timeout_at <= now() as overdue,
      run.completed_at is not null as "runEnded"
    from runs.approvals as approval
    join runs.runs as run on run.id = approval.run_id
    where approval.id = ${approvalId} and approval.run_id = ${runId}
      and approval.company_id = ${companyId}
  `);
  if (row.status !== "waiting") return row.status;
  return row.runEnded || row.overdue !== true ? "cancelled" : "timed_out";
}

/** Ends the waiting approvals of runs that have ended. */
export async function cancelWaitingApprovals(
  transaction: Transaction,
  runIds: readonly string[],
): Promise<void> {
  await transaction.query(sql.prepared("approvals_cancel", nothing)`
    with locked as materialized (
      select id from runs.approvals
      where run_id = any(${sql.array([...runIds], "text")}) and status = 'waiting'
      order by id
      for update
    )
    update runs.approvals as approval
    set status = 'cancelled', decided_at = greatest(now(), approval.created_at)
    from locked
    where approval.id = locked.id
  `);
}
