import { createCursorCodec, openDatabase } from "@workflow/db";
import type { EventBus } from "@workflow/events";
import { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import { ApprovalsServiceService } from "@workflow/proto/runs/v1/approvals";
import { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import { SchedulesServiceService } from "@workflow/proto/runs/v1/schedules";
import { RunStatsServiceService } from "@workflow/proto/runs/v1/stats";
import { RowsServiceService } from "@workflow/proto/tables/v1/rows";
import { TablesServiceService } from "@workflow/proto/tables/v1/tables";
import { DashboardsServiceService } from "@workflow/proto/workflows/v1/dashboards";
import { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import { createRpcClient, createTokenMinter, LARGE_MESSAGE_BYTES_MAX } from "@workflow/rpc";
import type {
  RpcClient,
  RpcClientOptions,
  RpcDefinition,
  RpcTls,
  TokenSigner,
} from "@workflow/rpc";
import { createScope } from "@workflow/service";
import type { Scope } from "@workflow/service";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createApp } from "./app.ts";
import { createAuditReader } from "./audit/audit-reader.ts";
import { consumeAudit } from "./audit/consume-audit.ts";
import { startIdentity } from "./auth/start-identity.ts";
import { createReadiness } from "./health.ts";
import { listenHttp } from "./http/server.ts";
import { createTableImporter } from "./imports/table-importer.ts";
import { createRequestReport } from "./request-report.ts";
import type { Backends } from "./route.ts";
import { ROUTES } from "./routes/index.ts";
import { createRowBatcher } from "./row-batcher.ts";
import { createStartBatcher } from "./start-batcher.ts";
import { getCursorKey } from "./store/cursor-key.ts";

export interface GatewayServiceOptions {
  databaseUrl: string;
  databasePoolSize: number;
  /** The address to listen on; all addresses of the machine by default. */
  host?: string;
  /** 0 picks a free port. */
  port: number;
  /** Reverse proxies in front of the gateway whose X-Forwarded-For is believed; none by default. */
  trustedProxies?: number;
  workflowsGrpcAddress: string;
  runsGrpcAddress: string;
  tablesGrpcAddress: string;
  integrationsGrpcAddress: string;
  /** Signs the identity that goes along with each call of a service. */
  tokenSigner: TokenSigner;
  grpcTls?: RpcTls | undefined;
  /** Where the services tell what callers changed. */
  bus: EventBus;
  logger: Logger;
  /** Where the gateway's metrics are registered; without one none are taken. */
  metricsRegistry?: Registry | undefined;
}

export interface RunningGateway {
  readonly host: string;
  readonly port: number;
  /** Unready, no new connections, requests under way finished (10 s), everything closed. */
  stop(): Promise<void>;
}

const DRAIN_MS = 10_000;
/** Pages of 100 MiB and batches of 8 MiB take seconds on a loaded machine. */
const ROWS_TIMEOUT_MS = 30_000;
const ROLE = "workflow_gateway";

/**
 * Starts the gateway: the only REST surface of the system. The services behind it need not be there
 * yet; requests that need one answer 503 meanwhile.
 *
 * @throws AppError UNAVAILABLE when the database cannot be reached, Error when the port is taken
 */
export async function startGatewayService(options: GatewayServiceOptions): Promise<RunningGateway> {
  const { logger } = options;
  const scope = createScope();
  return scope.guard(async () => {
    const database = await openDatabase({
      connectionUri: options.databaseUrl,
      role: ROLE,
      maxConnections: options.databasePoolSize,
      applicationName: "workflow-gateway",
      onError: (error) => logger.warn({ err: error }, "an idle database connection broke"),
    });
    scope.defer(() => database.end());
    const audit = await consumeAudit(database, options.bus);
    scope.defer(() => audit.close());
    const backends = {
      ...connectBackends(options, scope),
      auditLog: createAuditReader(database, createCursorCodec(await getCursorKey(database))),
    };
    const { databaseUrl } = options;
    const authenticator = await startIdentity({ database, databaseUrl, role: ROLE, logger }, scope);
    const readiness = createReadiness(database, backends);
    const stopping = new AbortController();
    const app = createApp({
      routes: ROUTES,
      authenticator,
      database,
      forget: (change) => authenticator.forget(change),
      backends,
      stopping: stopping.signal,
      readiness,
      report: createRequestReport(logger, options.metricsRegistry),
      trustedProxies: options.trustedProxies ?? 0,
    });
    const server = await listenHttp(app, options.host ?? "0.0.0.0", options.port);
    scope.defer(() => server.close(DRAIN_MS));
    scope.defer(() => stopping.abort());
    scope.defer(() => readiness.setStopping());
    return { host: server.host, port: server.port, stop: () => scope.close() };
  });
}

function connectBackends(options: GatewayServiceOptions, scope: Scope): Omit<Backends, "auditLog"> {
  const minter = createTokenMinter(options.tokenSigner);
  const connect = <D extends RpcDefinition>(
    definition: D,
    address: string,
    more: Partial<RpcClientOptions> = {},
  ): RpcClient<D> => {
    const client = createRpcClient(definition, { minter, tls: options.grpcTls, address, ...more });
    scope.defer(() => client.close());
    return client;
  };
  const { workflowsGrpcAddress, runsGrpcAddress, tablesGrpcAddress } = options;
  const runs = connect(RunsServiceService, runsGrpcAddress);
  const tables = connect(TablesServiceService, tablesGrpcAddress);
  const rows = connect(RowsServiceService, tablesGrpcAddress, {
    maxMessageBytes: LARGE_MESSAGE_BYTES_MAX,
    defaultTimeoutMs: ROWS_TIMEOUT_MS,
  });
  return {
    workflows: connect(WorkflowsServiceService, workflowsGrpcAddress),
    dashboards: connect(DashboardsServiceService, workflowsGrpcAddress),
    runs,
    approvals: connect(ApprovalsServiceService, runsGrpcAddress),
    schedules: connect(SchedulesServiceService, runsGrpcAddress),
    runStats: connect(RunStatsServiceService, runsGrpcAddress),
    tables,
    rows,
    secrets: connect(SecretsServiceService, options.integrationsGrpcAddress),
    starts: createStartBatcher(runs),
    rowInserts: createRowBatcher(rows),
    imports: createTableImporter(tables),
  };
}

export { EVENT_CONSUMERS } from "./audit/consume-audit.ts";
export { ROUTES } from "./routes/index.ts";
export { API_BASE } from "./app.ts";
