import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { approversSchema } from "../operations/approvers.ts";

/** Every status of an approval (D29). */
export const APPROVAL_STATUSES = [
  "waiting",
  "approved",
  "rejected",
  "timed_out",
  "cancelled",
] as const;

/** Where an approval stands. */
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

const approvalRow = z.object({
  id: z.string(),
  run_id: z.string(),
  workflow_id: z.string(),
  step_id: z.string(),
  path: z.string(),
  status: z.enum(APPROVAL_STATUSES),
  message: z.string(),
  form: z.string().nullable(),
  timeout_at: z.date().nullable(),
  created_at: z.date(),
  decided_at: z.date().nullable(),
  decided_by: z.string().nullable(),
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
  run_ended: z.boolean(),
});
const nothing = z.object({});

/** An approval; documents are JSON text. */
export type ApprovalRow = z.infer<typeof approvalRow>;

const COLUMNS = sql.fragment`
  id, run_id, workflow_id, step_id, path, status, message, form::text, timeout_at, created_at,
  decided_at, decided_by, comment, data::text
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

/** A company's approvals newest first, from after the one with the id `after`. */
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

/** Which approval of which run. */
export interface ApprovalKey {
  companyId: string;
  runId: string;
  approvalId: string;
}

/** What a decision has to be checked against; null when there is no such approval. */
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
 * task is to be locked before, in the order in which workers lock.
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

/** Where an approval stands that could not be decided; one that should have ended, as it will. */
export async function getUndecidableStatus(
  queryable: Queryable,
  { companyId, runId, approvalId }: ApprovalKey,
): Promise<ApprovalStatus> {
  const row = await queryable.one(sql.type(standingRow)`
    select approval.status, approval.timeout_at <= now() as overdue,
      run.completed_at is not null as run_ended
    from runs.approvals as approval
    join runs.runs as run on run.id = approval.run_id
    where approval.id = ${approvalId} and approval.run_id = ${runId}
      and approval.company_id = ${companyId}
  `);
  if (row.status !== "waiting") return row.status;
  return row.run_ended || row.overdue !== true ? "cancelled" : "timed_out";
}

/** Ends the approvals that still wait, of runs that have ended. */
export async function cancelWaitingApprovals(
  transaction: Transaction,
  runIds: readonly string[],
): Promise<void> {
  await transaction.query(sql.prepared("approvals_cancel", nothing)`
    update runs.approvals
    set status = 'cancelled', decided_at = greatest(now(), created_at)
    where run_id = any(${sql.array([...runIds], "text")}) and status = 'waiting'
  `);
}
