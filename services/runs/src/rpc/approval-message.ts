import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import type { Approval } from "@workflow/proto/runs/v1/approvals";
import type { ApprovalRow, ApprovalStatus as DomainStatus } from "../store/approvals.ts";

/** How each status of an approval is called in messages. */
export const MESSAGE_APPROVAL_STATUS = {
  waiting: ApprovalStatus.WAITING,
  approved: ApprovalStatus.APPROVED,
  rejected: ApprovalStatus.REJECTED,
  timed_out: ApprovalStatus.TIMED_OUT,
  cancelled: ApprovalStatus.CANCELLED,
} as const satisfies Record<DomainStatus, ApprovalStatus>;

/** An approval; JSON goes from the database into it as text. */
export function toApprovalMessage(row: ApprovalRow): Approval {
  return {
    id: row.id,
    runId: row.run_id,
    workflowId: row.workflow_id,
    stepId: row.step_id,
    path: row.path,
    status: MESSAGE_APPROVAL_STATUS[row.status],
    message: row.message,
    formJson: row.form ?? undefined,
    timeoutAt: row.timeout_at ?? undefined,
    createdAt: row.created_at,
    decidedAt: row.decided_at ?? undefined,
    decidedBy: row.decided_by ?? undefined,
    comment: row.comment ?? undefined,
    dataJson: row.data ?? undefined,
  };
}
