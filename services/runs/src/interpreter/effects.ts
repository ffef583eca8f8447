import type { SafeHttpClient } from "@workflow/http-client";
import type { ExpressionPool } from "../expressions/expression-pool.ts";
import type { ApprovalDesk } from "../engine/approval-desk.ts";
import type { ChildRuns } from "../engine/child-runs.ts";
import type { EmailClient } from "../email/send-email-client.ts";
import type { TablesClient } from "../tables/tables-client.ts";

/** Everything through which a step reaches beyond the run. */
export interface StepEffects {
  readonly http: SafeHttpClient;
  readonly expressions: ExpressionPool;
  readonly approvals: ApprovalDesk;
  readonly children: ChildRuns;
  readonly email: EmailClient;
  readonly tables: TablesClient;
}
