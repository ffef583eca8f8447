import type { CursorCodec, Database } from "@workflow/db";
import type { ActionsServiceService } from "@workflow/proto/integrations/v1/actions";
import type { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import type { AuthorizationsServiceService } from "@workflow/proto/integrations/v1/authorizations";
import type { ConnectionsServiceService } from "@workflow/proto/integrations/v1/connections";
import type { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import type { ApprovalsServiceService } from "@workflow/proto/runs/v1/approvals";
import type { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import type { SchedulesServiceService } from "@workflow/proto/runs/v1/schedules";
import type { RunStatsServiceService } from "@workflow/proto/runs/v1/stats";
import type { RowsServiceService } from "@workflow/proto/tables/v1/rows";
import type { TablesServiceService } from "@workflow/proto/tables/v1/tables";
import type { EndpointsServiceService } from "@workflow/proto/webhooks/v1/endpoints";
import type { InboundEventsServiceService } from "@workflow/proto/webhooks/v1/events";
import type { DashboardsServiceService } from "@workflow/proto/workflows/v1/dashboards";
import type { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import type { ClientFacts, Identity, RpcCallOptions, RpcClient } from "@workflow/rpc";
import type { AnswerTurns } from "@workflow/service";
import type { IncomingHttpHeaders } from "node:http";
import type { AuditReader } from "./audit/audit-reader.ts";
import type { Session } from "./auth/caller.ts";
import type { IdentityChange } from "./domain/identity-change.ts";
import type { Scope } from "./domain/scopes.ts";
import type { AddressLimits } from "./http/address-limits.ts";
import type { SignInGuard } from "./identity/sign-in-guard.ts";
import type { TableImporter } from "./routes/table-imports/table-importer.ts";
import type { RowBatcher } from "./row-batcher.ts";
import type { StartBatcher } from "./start-batcher.ts";

/** The services behind the gateway. */
export interface Backends {
  readonly workflows: RpcClient<WorkflowsServiceService>;
  readonly runs: RpcClient<RunsServiceService>;
  readonly approvals: RpcClient<ApprovalsServiceService>;
  readonly schedules: RpcClient<SchedulesServiceService>;
  readonly runStats: RpcClient<RunStatsServiceService>;
  readonly dashboards: RpcClient<DashboardsServiceService>;
  readonly tables: RpcClient<TablesServiceService>;
  readonly rows: RpcClient<RowsServiceService>;
  readonly secrets: RpcClient<SecretsServiceService>;
  readonly actions: RpcClient<ActionsServiceService>;
  readonly authorizations: RpcClient<AuthorizationsServiceService>;
  readonly connections: RpcClient<ConnectionsServiceService>;
  readonly agents: RpcClient<AgentsServiceService>;
  readonly inboundEvents: RpcClient<InboundEventsServiceService>;
  readonly webhookEndpoints: RpcClient<EndpointsServiceService>;
  /** Starts runs; starts that arrive together share one call. */
  readonly starts: StartBatcher;
  /** Adds single rows to tables; rows that arrive together share one call. */
  readonly rowInserts: RowBatcher;
  /** Creates tables from files. */
  readonly imports: TableImporter;
  readonly auditLog: AuditReader;
}

/** The facts about a request that every handler gets beside its input. */
export interface OpenContext {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  /** The sender, as far as the connection and its headers tell. */
  readonly client: ClientFacts;
  /** Whether the request came by https. */
  readonly isSecure: boolean;
  /** The public address of this gateway, for people and providers. */
  readonly publicOrigin: () => string;
  /** Attempts to connect accounts. Other services accept calls of known callers only. */
  readonly authorizations: RpcClient<AuthorizationsServiceService>;
  /** The options of calls to `authorizations`, in the gateway's own name. */
  readonly serviceCall: RpcCallOptions;
  /** The limit of one client's callbacks from providers. */
  readonly callbacks: AddressLimits;
  /** The gateway's own database. */
  readonly database: Database;
  /** Call this after a change of access is committed. This gateway then invalidates the cached credential. */
  readonly invalidateAccess: (change: IdentityChange) => void;
  /** Slows down password guessing. */
  readonly signIns: SignInGuard;
  /** Encodes and decodes the cursors of the gateway's own lists. */
  readonly cursors: CursorCodec;
  /** Limits the large answers that stay in memory until their clients have received them. */
  readonly largeAnswers: AnswerTurns;
}

/** The facts about a request whose sender is authenticated. */
export interface RouteContext extends Backends, OpenContext {
  readonly identity: Identity;
  /** The signed-in person; null for a caller with an API key. */
  readonly session: Session | null;
  /**
   * The options of calls to services on the caller's behalf: identity, request id, trace. Reads and
   * routes with `endsWithClient` are cancelled when the client leaves. Other writes go on, so that they
   * end in a known state.
   */
  readonly call: RpcCallOptions;
  /** The same as `call`, with one more scope: for lookups that the gateway itself needs. */
  readonly callWithScope: (scope: Scope) => RpcCallOptions;
}

/** The facts about a request of a signed-in person. */
export interface SessionContext extends RouteContext {
  readonly session: Session;
}
