import { AppError } from "@workflow/errors";
import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import type {
  ListApprovalsRequest,
  ListApprovalsResponse,
} from "@workflow/proto/runs/v1/approvals";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { APPROVAL_STATUSES } from "../domain/approval.ts";
import type { ApprovalStatus as DomainStatus } from "../domain/approval.ts";
import { listApprovals as listRows } from "../store/approvals.ts";
import { MESSAGE_APPROVAL_STATUS, toApprovalMessage } from "./approval-message.ts";
import { parseLimit } from "./list-runs.ts";

/** Lists a company's approvals, newest first. */
export function listApprovals({
  database,
  cursors,
}: ServiceContext): UnaryMethod<ListApprovalsRequest, ListApprovalsResponse> {
  return rpc({
    scopes: "runs:read",
    async handler(request, { identity: { companyId } }) {
      const limit = parseLimit(request.page?.limit ?? 0);
      const status = parseStatus(request.status);
      const binding = JSON.stringify(["approvals", { companyId, status }]);
      const cursor = request.page?.cursor ?? "";
      const after = cursor === "" ? null : (cursors.decode(binding, cursor)[0] ?? null);
      const rows = await listRows(database, companyId, status, { after, limit: limit + 1 });
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return {
        approvals: page.map(toApprovalMessage),
        page: {
          cursor: last === undefined ? "" : cursors.encode(binding, [last.id]),
          hasMore: last !== undefined,
        },
      };
    },
  });
}

function parseStatus(status: ApprovalStatus): DomainStatus | null {
  if (status === ApprovalStatus.UNSPECIFIED) return null;
  const known = APPROVAL_STATUSES.find((each) => MESSAGE_APPROVAL_STATUS[each] === status);
  if (known !== undefined) return known;
  const message = `must be one of ${APPROVAL_STATUSES.join(", ")}`;
  throw new AppError("BAD_REQUEST", `status ${message}.`, {
    violations: [{ path: ["status"], message }],
  });
}
