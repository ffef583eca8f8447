import type { ExpressionPool } from "@workflow/expressions";
import type { SafeHttpClient } from "@workflow/http-client";
import type { Sending } from "./sending.ts";
import type { AgentClient } from "./agent-client.ts";
import type { ApprovalDesk } from "./approval-desk.ts";
import type { ChildRuns } from "./child-runs.ts";
import type { EmailClient } from "./email-client.ts";
import type { ProviderClient } from "./provider-client.ts";
import type { TablesClient } from "./tables-client.ts";

/** Everything through which a step reaches beyond the run. */
export interface StepEffects {
  readonly http: SafeHttpClient;
  /**
   * A client that may also reach private addresses. It is only for origins that the operator has named.
   */
  readonly operatorHttp: SafeHttpClient;
  readonly expressions: ExpressionPool;
  readonly agents: AgentClient;
  readonly approvals: ApprovalDesk;
  readonly children: ChildRuns;
  readonly email: EmailClient;
  readonly providers: ProviderClient;
  readonly sending: Sending;
  readonly tables: TablesClient;
}
