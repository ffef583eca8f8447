import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import type { Approval } from "@workflow/proto/runs/v1/approvals";
import { rawOrNull } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";

/** The statuses of an approval by their names in the API (D29). */
export const APPROVAL_STATUSES = {
  waiting: ApprovalStatus.WAITING,
  approved: ApprovalStatus.APPROVED,
  rejected: ApprovalStatus.REJECTED,
  timed_out: ApprovalStatus.TIMED_OUT,
  cancelled: ApprovalStatus.CANCELLED,
} as const;

const NAMES = new Map<ApprovalStatus, string>(
  Object.entries(APPROVAL_STATUSES).map(([name, status]) => [status, name]),
);

/** An approval (D29). */
export function approvalJson(approval: Approval): Writable {
  return {
    id: approval.id,
    runId: approval.runId,
    workflowId: approval.workflowId,
    stepId: approval.stepId,
    path: approval.path,
    status: NAMES.get(approval.status) ?? "unknown",
    message: approval.message,
    form: rawOrNull(approval.formJson),
    timeoutAt: approval.timeoutAt ?? null,
    createdAt: approval.createdAt ?? null,
    decidedAt: approval.decidedAt ?? null,
    decidedBy: approval.decidedBy ?? null,
    comment: approval.comment ?? null,
    data: rawOrNull(approval.dataJson),
  };
}
