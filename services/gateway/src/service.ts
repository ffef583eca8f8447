import { setTimeout as delay } from "node:timers/promises";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { createCursorCodec, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createDeadLetters } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import type { HttpTls } from "@workflow/rpc";
import { AnswerTurns, watchPool } from "@workflow/service";
import type { Express } from "express";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createApp } from "./app.ts";
import { createAuditReader } from "./audit/audit-reader.ts";
import { startAuditRetention } from "./audit/audit-retention.ts";
import { consumeAudit } from "./audit/consume-audit.ts";
import { startIdentity } from "./identity/start-identity.ts";
import { connectBackends } from "./connect-backends.ts";
import type { BackendOptions } from "./connect-backends.ts";
import { createReadiness } from "./health.ts";
import type { Readiness } from "./health.ts";
import { createAddressLimits } from "./http/address-limits.ts";
import { AnswerHeaders } from "./http/answer-headers.ts";
import { Compressor } from "./http/compression.ts";
import { createCompanyConnections } from "./http/company-connections.ts";
import type { RequestSettings } from "./http/request-info.ts";
import { listenHttp } from "./http/server.ts";
import type { ClientTimeouts } from "./http/server.ts";
import { createProxyTrust } from "./http/trusted-proxies.ts";
import type { TrustedProxies } from "./http/trusted-proxies.ts";
import type { PipelineDependencies } from "./http/pipeline.ts";
import { serveMcp } from "./mcp/serve-mcp.ts";
import { createInbound } from "./inbound/serve-inbound.ts";
import { startRateLimits } from "./rate-limits/start-rate-limits.ts";
import type { RateLimitOptions } from "./rate-limits/start-rate-limits.ts";
import { createRequestReport } from "./request-report.ts";
import { ROUTES } from "./routes/index.ts";
import { getCursorKey } from "./store/cursor-key.ts";

export interface GatewayServiceOptions extends BackendOptions {
  databaseUrl: string;
  databasePoolSize: number;
  /** The address to listen on; all addresses of the machine by default. */
  host?: string;
  /** The port to listen on; 0 picks a free one. */
  port: number;
  /**
   * The address of the gateway for people and providers, without a trailing slash; by default taken
   * from each request.
   */
  publicUrl?: string | undefined;
  /** The trusted reverse proxies, whose X-Forwarded headers are believed; none by default. */
  trustedProxies?: TrustedProxies;
  /** Origins whose pages may call the API with a key; none by default. */
  corsOrigins?: readonly string[] | undefined;
  /** The limit of open connections; 10,000 by default. */
  connectionsMax?: number;
  /** The limit of one company's open connections; 2,000 by default. */
  companyConnectionsMax?: number;
  /** The time between the request to stop and the last accepted connection, in milliseconds; 0 by default. */
  stopDelayMs?: number;
  /** The time for which a refused client may go on sending, in milliseconds; 10,000 by default. */
  lingeringMs?: number;
  /** The time limits for slow clients. */
  clientTimeouts?: Partial<ClientTimeouts>;
  /** The days for which audit events are kept, at least 30; 0, the default, keeps them for ever. */
  auditRetentionDays?: number;
  /** `host:port` of the webhooks service, which receives inbound webhooks unchanged. */
  webhooksHttpAddress: string;
  /** TLS to the webhooks service; plain text by default. */
  webhooksHttpTls?: HttpTls | undefined;
  /** The rate limits per minute. By default callers are unlimited, and a sender of webhooks has 10,000. */
  rateLimits?: RateLimitOptions;
  /**
   * The time limit of an inbound webhook, from forwarding to the answer, in milliseconds; 30,000 by
   * default.
   */
  inboundTimeoutMs?: number;
  /** The bus on which the services publish audit events. */
  bus: EventBus;
  logger: Logger;
  /** Where the gateway registers its metrics; there are none by default. */
  metricsRegistry?: Registry | undefined;
  /** Makes the spans of recorded traces; there are none by default. */
  tracer?: Tracer | undefined;
}

export interface RunningGateway {
  readonly host: string;
  readonly port: number;
  /**
   * Stops the gateway: first unready, after `stopDelayMs` no new connections, then up to 10 s for
   * current requests, then everything is closed.
   */
  stop(): Promise<void>;
}

const DRAIN_MS = 10_000;
const CONNECTIONS_MAX = 10_000;
const COMPANY_CONNECTIONS_MAX = 2_000;
/** The limit of bytes in answers that clients have not received yet: of one company, and in all. */
const LARGE_ANSWERS = { perTenant: 32 * 1024 * 1024, total: 128 * 1024 * 1024 };
const ROLE = "workflow_gateway";
/** The limit of one client's callbacks per minute; a company's people may share an address. */
const CALLBACKS_MAX = 60;
/** The limit of one client's status requests per minute; the page sends one every two seconds. */
const STATUS_REQUESTS_MAX = 600;
/** The limit of one client's requests per minute. A first visit takes four requests, a later one takes one. */
const DOCS_REQUESTS_MAX = 120;

/**
 * Starts the gateway: the only REST surface of the system. The services behind it need not be there
 * yet; requests that need one answer 503 meanwhile.
 *
 * @throws AppError UNAVAILABLE when the database cannot be reached, Error when the port is taken
 */
export async function startGatewayService(options: GatewayServiceOptions): Promise<RunningGateway> {
  const scope = createScope();
  return scope.guard(async () => {
    const database = await openOwnDatabase(options, scope);
    await startAudit(options, database, scope);
    const cursorKey = await getCursorKey(database);
    const stopping = new AbortController();
    const requests = {
      proxies: createProxyTrust(options.trustedProxies ?? 0),
      answerHeaders: new AnswerHeaders(options.corsOrigins ?? []),
      compressor: new Compressor(),
      tracer: options.tracer,
    };
    const parts = { database, cursorKey, requests, stopping: stopping.signal };
    const { app, readiness } = await prepareApp(options, parts, scope);
    const server = await listenHttp(app, {
      host: options.host ?? "0.0.0.0",
      port: options.port,
      connectionsMax: options.connectionsMax ?? CONNECTIONS_MAX,
      requests,
      lingeringMs: options.lingeringMs,
      timeouts: options.clientTimeouts,
    });
    scope.defer(() => server.close(DRAIN_MS));
    scope.defer(() => stopping.abort());
    scope.defer(() => {
      readiness.setStopping();
      server.leave();
      return delay(options.stopDelayMs ?? 0);
    });
    return { host: server.host, port: server.port, stop: () => scope.close() };
  });
}

async function openOwnDatabase(
  { databaseUrl, databasePoolSize, logger, metricsRegistry }: GatewayServiceOptions,
  scope: Scope,
): Promise<Database> {
  const database = await openDatabase({
    connectionUri: databaseUrl,
    role: ROLE,
    maxConnections: databasePoolSize,
    applicationName: "workflow-gateway",
    onError: (error) => logger.warn({ err: error }, "an idle database connection broke"),
  });
  scope.defer(() => database.end());
  scope.defer(watchPool(metricsRegistry, "gateway", database));
  return database;
}

/** Consumes the events of the audit log from the bus, and removes old ones. */
async function startAudit(
  { bus, logger, metricsRegistry, auditRetentionDays = 0 }: GatewayServiceOptions,
  database: Database,
  scope: Scope,
): Promise<void> {
  const schema = "gateway";
  const deadLetters = createDeadLetters({ database, schema, logger, metricsRegistry });
  const audit = await consumeAudit(database, bus, deadLetters);
  scope.defer(() => audit.close());
  startAuditRetention({ database, logger, days: auditRetentionDays }, scope);
}

/** The dependencies of the application. */
interface AppParts {
  readonly database: Database;
  readonly cursorKey: Awaited<ReturnType<typeof getCursorKey>>;
  readonly requests: RequestSettings;
  /** Aborted when the gateway stops. */
  readonly stopping: AbortSignal;
}

/** Starts the dependencies of requests, and creates the application that serves them. */
async function prepareApp(
  options: GatewayServiceOptions,
  { database, cursorKey, requests, stopping }: AppParts,
  scope: Scope,
): Promise<{ app: Express; readiness: Readiness }> {
  const { databaseUrl, logger, metricsRegistry, publicUrl } = options;
  const cursors = createCursorCodec(cursorKey);
  const rateLimits = await startRateLimits(
    { ...options.rateLimits, cursorKey, logger, metricsRegistry },
    scope,
  );
  const backends = {
    ...connectBackends(options, stopping, scope),
    auditLog: createAuditReader(database, cursors),
  };
  const identity = { database, databaseUrl, role: ROLE, logger, metricsRegistry };
  const { authenticator, signIns } = await startIdentity(identity, scope);
  const readiness = createReadiness(database, backends);
  const inbound = createInbound({
    address: options.webhooksHttpAddress,
    tls: options.webhooksHttpTls,
    rateLimits,
    timeoutMs: options.inboundTimeoutMs,
    publicUrl,
    database,
  });
  scope.defer(() => inbound.close());
  const pipeline: PipelineDependencies = {
    authenticator,
    rateLimits,
    database,
    invalidateAccess: (change) => authenticator.invalidate(change),
    signIns,
    cursors,
    largeAnswers: new AnswerTurns(LARGE_ANSWERS),
    backends,
    publicUrl,
    callbacks: createAddressLimits(CALLBACKS_MAX),
    connections: createCompanyConnections({
      total: options.connectionsMax ?? CONNECTIONS_MAX,
      perTenant: options.companyConnectionsMax ?? COMPANY_CONNECTIONS_MAX,
    }),
    stopping,
  };
  const app = createApp({
    ...pipeline,
    routes: ROUTES,
    connectPage: {
      authorizations: backends.authorizations,
      limits: createAddressLimits(STATUS_REQUESTS_MAX),
    },
    docsLimits: createAddressLimits(DOCS_REQUESTS_MAX),
    inbound: inbound.serve,
    mcp: serveMcp({ ...pipeline, logger }),
    readiness,
    report: createRequestReport(logger, metricsRegistry),
    requests,
  });
  return { app, readiness };
}

export { EVENT_CONSUMERS } from "./audit/consume-audit.ts";
export type { RateLimitOptions } from "./rate-limits/start-rate-limits.ts";
export { ROUTES } from "./routes/index.ts";
export { API_BASE } from "./app.ts";
