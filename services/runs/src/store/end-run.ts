import { sql } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { z } from "zod";
import { statusesBefore } from "../domain/run-status.ts";

const cancelledRow = z.object({
  id: z.string(),
  company_id: z.string(),
  workflow_id: z.string(),
  workflow_name: z.string(),
  workflow_version: z.number(),
  trigger_type: z.enum(["api", "webhook", "schedule", "manual"]),
  awaited: z.boolean(),
  created_at: z.date(),
  started_at: z.date().nullable(),
  completed_at: z.date(),
});

/** A run as the cancellation left it. */
export type CancelledRow = z.infer<typeof cancelledRow>;

/** Ends a run as cancelled unless it has ended; null when it has, or is not the company's. */
export async function cancelRun(
  transaction: Transaction,
  companyId: string,
  runId: string,
): Promise<CancelledRow | null> {
  return transaction.maybeOne(sql.type(cancelledRow)`
    update runs.runs as run
    set status = 'cancelled', completed_at = greatest(now(), run.started_at, run.created_at)
    from runs.deployments as deployment
    where run.id = ${runId} and run.company_id = ${companyId}
      and run.status = any(${sql.array(statusesBefore("cancelled"), "text")})
      and deployment.id = run.deployment_id
    returning run.id, run.company_id, run.workflow_id, deployment.name as workflow_name,
      run.workflow_version, run.trigger_type, run.awaited, run.created_at, run.started_at,
      run.completed_at
  `);
}
