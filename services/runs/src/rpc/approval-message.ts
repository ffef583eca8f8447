import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import type { Approval } from "@workflow/proto/runs/v1/approvals";
import type { ApprovalStatus as DomainStatus } from "../domain/approval.ts";
import type { ApprovalRow } from "../store/approvals.ts";

/** The name of each approval status in messages. */
export const MESSAGE_APPROVAL_STATUS = {
  waiting: ApprovalStatus.WAITING,
  approved: ApprovalStatus.APPROVED,
  rejected: ApprovalStatus.REJECTED,
  timed_out: ApprovalStatus.TIMED_OUT,
  cancelled: ApprovalStatus.CANCELLED,
} as const satisfies Record<DomainStatus, ApprovalStatus>;

/** An approval as a message. JSON is passed from the database as text. */
export function toApprovalMessage(row: ApprovalRow): Approval {
  return {
    id: row.id,
    runId: row.runId,
    workflowId: row.workflowId,
    stepId: row.stepId,
    path: row.path,
    status: MESSAGE_APPROVAL_STATUS[row.status],
    message: row.message,
    formJson: row.form ?? undefined,
    timeoutAt: row.timeoutAt ?? undefined,
    createdAt: row.createdAt,
    decidedAt: row.decidedAt ?? undefined,
    decidedBy: row.decidedBy ?? undefined,
    comment: row.comment ?? undefined,
    dataJson: row.data ?? undefined,
  };
}
