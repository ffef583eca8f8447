import { isId } from "@workflow/db";
import type {
  ListRunApprovalsRequest,
  ListRunApprovalsResponse,
} from "@workflow/proto/runs/v1/approvals";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { listRunApprovals as listRows } from "../store/approvals.ts";
import { hasRun } from "../store/read-runs.ts";
import { toApprovalMessage } from "./approval-message.ts";
import { runNotFound } from "./read-run.ts";

/** Lists the approvals of one run in the order in which they were asked for. */
export function listRunApprovals({
  database,
}: ServiceContext): UnaryMethod<ListRunApprovalsRequest, ListRunApprovalsResponse> {
  return rpc({
    scopes: "runs:read",
    async handler({ runId }, { identity: { companyId } }) {
      const exists = isId("run_", runId) && (await hasRun(database, companyId, runId));
      if (!exists) throw runNotFound();
      const rows = await listRows(database, companyId, runId);
      return { approvals: rows.map(toApprovalMessage) };
    },
  });
}
