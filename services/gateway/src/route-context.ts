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
  /** Starts runs, those that come together in one call. */
  readonly starts: StartBatcher;
  /** Adds single rows to tables. */
  readonly rowInserts: RowBatcher;
  /** Makes tables from files. */
  readonly imports: TableImporter;
  readonly auditLog: AuditReader;
}

/** What every handler knows of the request, beside its input. */
export interface OpenContext {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  /** Who sends it, as far as the connection and its headers tell. */
  readonly client: ClientFacts;
  /** Whether it has come by https. */
  readonly isSecure: boolean;
  /** Where people and providers reach this gateway. */
  readonly publicOrigin: () => string;
  /** Attempts to connect accounts; other calls of services need a known caller. */
  readonly authorizations: RpcClient<AuthorizationsServiceService>;
  /** For those calls, in the gateway's own name. */
  readonly serviceCall: RpcCallOptions;
  /** How often one client may come back from providers. */
  readonly callbacks: AddressLimits;
  /** The gateway's own database. */
  readonly database: Database;
  /** To be called after a change of access is committed. This gateway then drops what it knows of the credential. */
  readonly invalidateAccess: (change: IdentityChange) => void;
  /** Slows down those who guess passwords. */
  readonly signIns: SignInGuard;
  /** Makes and reads the cursors of the gateway's own lists. */
  readonly cursors: CursorCodec;
  /** Bounds the large answers that are held until their clients have taken them. */
  readonly largeAnswers: AnswerTurns;
}

/** What a handler knows of a request whose sender is known. */
export interface RouteContext extends Backends, OpenContext {
  readonly identity: Identity;
  /** The signed-in person; null for a caller with an API key. */
  readonly session: Session | null;
  /**
   * For calls of services on the caller's behalf: identity, request id, trace. Reads are cancelled
   * when the client goes away, and what `endsWithClient` says; other writes are not, so that what was begun
   * ends in a known state.
   */
  readonly call: RpcCallOptions;
  /** As `call`, but holding one scope more: for look-ups that are the gateway's own need. */
  readonly callWithScope: (scope: Scope) => RpcCallOptions;
}

/** What the handler of a signed-in person's request knows. */
export interface SessionContext extends RouteContext {
  readonly session: Session;
}
