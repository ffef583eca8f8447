import { createCursorCodec, openDatabase } from "@workflow/db";
import { createDeadLetters } from "@workflow/events";
import type { EventBus } from "@workflow/events";
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
import { AnswerTurns, createScope } from "@workflow/service";
import type { Scope } from "@workflow/service";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createApp } from "./app.ts";
import { createAuditReader } from "./audit/audit-reader.ts";
import { startAuditRetention } from "./audit/audit-retention.ts";
import { consumeAudit } from "./audit/consume-audit.ts";
import { startIdentity } from "./auth/start-identity.ts";
import { createReadiness } from "./health.ts";
import { createAddressLimits } from "./http/address-limits.ts";
import { AnswerHeaders } from "./http/answer-headers.ts";
import { Compressor } from "./http/compression.ts";
import { createCompanyConnections } from "./http/company-connections.ts";
import { listenHttp } from "./http/server.ts";
import type { ClientTimeouts } from "./http/server.ts";
import { createProxyTrust } from "./http/trusted-proxies.ts";
import type { TrustedProxies } from "./http/trusted-proxies.ts";
import type { PipelineDependencies } from "./http/pipeline.ts";
import { serveMcp } from "./mcp/serve-mcp.ts";
import { createInbound } from "./inbound/serve-inbound.ts";
import { startRateLimits } from "./rate-limits/start-rate-limits.ts";
import type { RateLimitOptions } from "./rate-limits/start-rate-limits.ts";
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
  /** Where people and providers reach the gateway, without a slash at the end; as requests say by default. */
  publicUrl?: string | undefined;
  /** Reverse proxies in front of the gateway whose X-Forwarded headers are believed; none by default. */
  trustedProxies?: TrustedProxies;
  /** Origins whose pages may call the API with a key; none by default. */
  corsOrigins?: readonly string[] | undefined;
  /** Connections that may be open at the same time; 10,000 by default. */
  connectionsMax?: number;
  /** Those of one company; 2,000 by default. */
  companyConnectionsMax?: number;
  /** How long a client that was refused may go on sending, in milliseconds; 10,000 by default. */
  lingeringMs?: number;
  /** How long the gateway waits for its clients. */
  clientTimeouts?: Partial<ClientTimeouts>;
  /** Days for which events of the audit log are kept, at least 30; 0, the default, is for ever. */
  auditRetentionDays?: number;
  workflowsGrpcAddress: string;
  runsGrpcAddress: string;
  tablesGrpcAddress: string;
  integrationsGrpcAddress: string;
  webhooksGrpcAddress: string;
  /** Where inbound webhooks go, as they came: `host:port`. */
  webhooksHttpAddress: string;
  /** Requests that may come in any minute; without it callers have no limit, and senders of webhooks 10,000. */
  rateLimits?: RateLimitOptions;
  /** How long one may take, from its forwarding to the answer, in milliseconds; 30,000 by default. */
  inboundTimeoutMs?: number;
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
const CONNECTIONS_MAX = 10_000;
const COMPANY_CONNECTIONS_MAX = 2_000;
/** Pages of 100 MiB and batches of 8 MiB take seconds on a loaded machine. */
const ROWS_TIMEOUT_MS = 30_000;
/** A provider has ten seconds for each answer, and there may be three: renewed, logged in, verified. */
const CONNECTIONS_TIMEOUT_MS = 45_000;
/** A test waits 15 s for the receiver, and before that for its turn. */
const WEBHOOK_ENDPOINTS_TIMEOUT_MS = 30_000;
/** Bytes of answers that clients have not taken yet: those of one company, and of all. */
const LARGE_ANSWERS = { perTenant: 32 * 1024 * 1024, total: 128 * 1024 * 1024 };
const ROLE = "workflow_gateway";
/** Of one client a minute: a company's people may share an address. */
const CALLBACKS_MAX = 60;
/** The page asks every two seconds. */
const PAGE_LOOKS_MAX = 600;
/** A first look takes four requests, later ones one: people of one address have 30 first looks a minute. */
const DOCS_REQUESTS_MAX = 120;

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
    const deadLetters = createDeadLetters({
      database,
      schema: "gateway",
      logger,
      metricsRegistry: options.metricsRegistry,
    });
    const audit = await consumeAudit(database, options.bus, deadLetters);
    scope.defer(() => audit.close());
    startAuditRetention({ database, logger, days: options.auditRetentionDays ?? 0 }, scope);
    const cursorKey = await getCursorKey(database);
    const cursors = createCursorCodec(cursorKey);
    const rateLimits = await startRateLimits(
      { ...options.rateLimits, cursorKey, logger, metricsRegistry: options.metricsRegistry },
      scope,
    );
    const stopping = new AbortController();
    const backends = {
      ...connectBackends(options, stopping.signal, scope),
      auditLog: createAuditReader(database, cursors),
    };
    const { databaseUrl } = options;
    const { authenticator, signIns } = await startIdentity(
      { database, databaseUrl, role: ROLE, logger },
      scope,
    );
    const readiness = createReadiness(database, backends);
    const inbound = createInbound({
      address: options.webhooksHttpAddress,
      rateLimits,
      timeoutMs: options.inboundTimeoutMs,
      publicUrl: options.publicUrl,
      database,
    });
    scope.defer(() => inbound.close());
    const { connectionsMax = CONNECTIONS_MAX, companyConnectionsMax = COMPANY_CONNECTIONS_MAX } =
      options;
    const requests = {
      proxies: createProxyTrust(options.trustedProxies ?? 0),
      answerHeaders: new AnswerHeaders(options.corsOrigins ?? []),
      compressor: new Compressor(),
    };
    const pipeline: PipelineDependencies = {
      authenticator,
      rateLimits,
      database,
      forget: (change) => authenticator.forget(change),
      signIns,
      cursors,
      largeAnswers: new AnswerTurns(LARGE_ANSWERS),
      backends,
      publicUrl: options.publicUrl,
      callbacks: createAddressLimits(CALLBACKS_MAX),
      connections: createCompanyConnections({
        total: connectionsMax,
        perTenant: companyConnectionsMax,
      }),
      stopping: stopping.signal,
    };
    const app = createApp({
      ...pipeline,
      routes: ROUTES,
      connectPage: {
        authorizations: backends.authorizations,
        limits: createAddressLimits(PAGE_LOOKS_MAX),
      },
      docsLimits: createAddressLimits(DOCS_REQUESTS_MAX),
      inbound: inbound.serve,
      mcp: serveMcp({ ...pipeline, logger }),
      readiness,
      report: createRequestReport(logger, options.metricsRegistry),
      requests,
    });
    const server = await listenHttp(app, {
      host: options.host ?? "0.0.0.0",
      port: options.port,
      connectionsMax,
      requests,
      lingeringMs: options.lingeringMs,
      timeouts: options.clientTimeouts,
    });
    scope.defer(() => server.close(DRAIN_MS));
    scope.defer(() => stopping.abort());
    scope.defer(() => readiness.setStopping());
    return { host: server.host, port: server.port, stop: () => scope.close() };
  });
}

function connectBackends(
  options: GatewayServiceOptions,
  stopping: AbortSignal,
  scope: Scope,
): Omit<Backends, "auditLog"> {
  const { grpcTls: tls, tokenSigner } = options;
  const service = (audience: TokenAudience, address: string): RpcClientOptions => ({
    address,
    tls,
    minter: createTokenMinter(tokenSigner, { audience }),
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
  const rows = connect(RowsServiceService, toTables, {
    maxMessageBytes: LARGE_MESSAGE_BYTES_MAX,
    defaultTimeoutMs: ROWS_TIMEOUT_MS,
  });
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

export { EVENT_CONSUMERS } from "./audit/consume-audit.ts";
export type { RateLimitOptions } from "./rate-limits/start-rate-limits.ts";
export { ROUTES } from "./routes/index.ts";
export { API_BASE } from "./app.ts";
