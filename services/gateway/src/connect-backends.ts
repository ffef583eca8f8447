import type { Scope } from "@workflow/async";
import { ActionsServiceService } from "@workflow/proto/integrations/v1/actions";
import { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import { AuthorizationsServiceService } from "@workflow/proto/integrations/v1/authorizations";
import { ConnectionsServiceService } from "@workflow/proto/integrations/v1/connections";
import { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import { ApprovalsServiceService } from "@workflow/proto/runs/v1/approvals";
import { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import { SchedulesServiceService } from "@workflow/proto/runs/v1/schedules";
import { RunStatsServiceService } from "@workflow/proto/runs/v1/stats";
import { RowsServiceService } from "@workflow/proto/tables/v1/rows";
import { TablesServiceService } from "@workflow/proto/tables/v1/tables";
import { EndpointsServiceService } from "@workflow/proto/webhooks/v1/endpoints";
import { InboundEventsServiceService } from "@workflow/proto/webhooks/v1/events";
import { DashboardsServiceService } from "@workflow/proto/workflows/v1/dashboards";
import { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import { createRpcClient, createTokenMinter, LARGE_MESSAGE_BYTES_MAX } from "@workflow/rpc";
import type {
  RpcClient,
  RpcClientOptions,
  RpcDefinition,
  RpcTls,
  TokenAudience,
  TokenSigner,
} from "@workflow/rpc";
import type { Tracer } from "@workflow/tracing";
import type { Backends } from "./route-context.ts";
import { createTableImporter } from "./routes/table-imports/table-importer.ts";
import { createRowBatcher } from "./row-batcher.ts";
import { createStartBatcher } from "./start-batcher.ts";

/** The addresses of the services, and the gateway's means to identify itself. */
export interface BackendOptions {
  workflowsGrpcAddress: string;
  runsGrpcAddress: string;
  tablesGrpcAddress: string;
  integrationsGrpcAddress: string;
  webhooksGrpcAddress: string;
  /** Signs the identity that each call of a service carries. */
  tokenSigner: TokenSigner;
  grpcTls?: RpcTls | undefined;
  tracer?: Tracer | undefined;
}

/** Pages of 100 MiB and batches of 8 MiB take seconds on a loaded machine. */
const ROWS_TIMEOUT_MS = 30_000;
/**
 * A provider has ten seconds for each answer, and a check may need three: renewal, login,
 * verification.
 */
const CONNECTIONS_TIMEOUT_MS = 45_000;
/** A test waits for its turn first, and then up to 15 s for the receiver. */
const WEBHOOK_ENDPOINTS_TIMEOUT_MS = 30_000;

/**
 * Creates the clients of all services, which connect on first use. The scope closes them.
 *
 * @param stopping aborted when the gateway stops
 */
export function connectBackends(
  options: BackendOptions,
  stopping: AbortSignal,
  scope: Scope,
): Omit<Backends, "auditLog"> {
  const { grpcTls: tls, tokenSigner } = options;
  const service = (audience: TokenAudience, address: string): RpcClientOptions => ({
    address,
    tls,
    minter: createTokenMinter(tokenSigner, { audience }),
    tracer: options.tracer,
  });
  const connect = <D extends RpcDefinition>(
    definition: D,
    to: RpcClientOptions,
    more: Partial<RpcClientOptions> = {},
  ): RpcClient<D> => {
    const client = createRpcClient(definition, { ...to, ...more });
    scope.defer(() => client.close());
    return client;
  };
  const toWorkflows = service("workflows", options.workflowsGrpcAddress);
  const toRuns = service("runs", options.runsGrpcAddress);
  const toTables = service("tables", options.tablesGrpcAddress);
  const toIntegrations = service("integrations", options.integrationsGrpcAddress);
  const toWebhooks = service("webhooks", options.webhooksGrpcAddress);
  const runs = connect(RunsServiceService, toRuns);
  const tables = connect(TablesServiceService, toTables);
  const rows = connectRows(toTables, scope);
  return {
    workflows: connect(WorkflowsServiceService, toWorkflows),
    dashboards: connect(DashboardsServiceService, toWorkflows),
    runs,
    approvals: connect(ApprovalsServiceService, toRuns),
    schedules: connect(SchedulesServiceService, toRuns),
    runStats: connect(RunStatsServiceService, toRuns),
    tables,
    rows,
    secrets: connect(SecretsServiceService, toIntegrations),
    actions: connect(ActionsServiceService, toIntegrations),
    authorizations: connect(AuthorizationsServiceService, toIntegrations),
    connections: connect(ConnectionsServiceService, toIntegrations, {
      defaultTimeoutMs: CONNECTIONS_TIMEOUT_MS,
    }),
    agents: connect(AgentsServiceService, toIntegrations),
    inboundEvents: connect(InboundEventsServiceService, toWebhooks),
    webhookEndpoints: connect(EndpointsServiceService, toWebhooks, {
      defaultTimeoutMs: WEBHOOK_ENDPOINTS_TIMEOUT_MS,
    }),
    starts: createStartBatcher(runs, stopping),
    rowInserts: createRowBatcher(rows),
    imports: createTableImporter(tables),
  };
}

/** A client of the rows of tables, whose messages may be large. */
function connectRows(
  toTables: RpcClientOptions,
  scope: Scope,
): RpcClient<typeof RowsServiceService> {
  const rows = createRpcClient(RowsServiceService, {
    ...toTables,
    maxMessageBytes: LARGE_MESSAGE_BYTES_MAX,
    defaultTimeoutMs: ROWS_TIMEOUT_MS,
    // These methods answer from columns in memory, so one replica should hold the columns of a table
    // (ADR 75).
    affinity: {
      queryRows: ({ tableId }) => tableId,
      listDistinctValues: ({ tableId }) => tableId,
      aggregateRows: ({ tableId }) => tableId,
    },
  });
  scope.defer(() => rows.close());
  return rows;
}
