import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import type { Approval, DecideApprovalRequest } from "@workflow/proto/runs/v1/approvals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { Identity } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { approval, mapping } from "./runs-harness.ts";
import type { RunsHarness } from "./runs-harness.ts";

/** The approvals of a run. */
export const approvalsOf = async (
  harness: RunsHarness,
  runId: string,
  identity: Identity = harness.identity,
) => (await harness.approvals.listRunApprovals({ runId }, { identity })).approvals;

/** Decides an approval: approves it unless `more` says otherwise. */
export function decide(
  harness: RunsHarness,
  { runId, id }: Pick<Approval, "runId" | "id">,
  more: Partial<DecideApprovalRequest> = {},
  identity: Identity = harness.identity,
) {
  return harness.approvals.decideApproval(
    {
      runId,
      approvalId: id,
      decision: ApprovalStatus.APPROVED,
      comment: undefined,
      dataJson: undefined,
      ...more,
    },
    { identity },
  );
}

/** Starts a run and waits for its approval `ask`. */
export async function startAsking(
  harness: RunsHarness,
  config: object = {},
  more: object = {},
): Promise<Approval> {
  const workflowId = await harness.deploy([
    approval("ask", config, more),
    mapping("then", "{{steps.ask.output}}"),
  ]);
  return askedBy(harness, await harness.start(workflowId));
}

/** Waits until a run waits for its approval, and returns the approval. */
const askedBy = (harness: RunsHarness, runId: string): Promise<Approval> =>
  waitFor(async () => {
    const run = await harness.get(runId);
    const [first] = await approvalsOf(harness, runId);
    return run.status === RunStatus.WAITING_APPROVAL && first !== undefined ? first : null;
  });
