import { createInProcessEventBus, createNatsEventBus } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { createTokenSigner, httpTlsOf, loadTls, TOKEN_ISSUERS } from "@workflow/rpc";
import type { IssuerKeys, RpcTls, TokenIssuer, TokenSigner } from "@workflow/rpc";
import { createMetricsRegistry, followCertificates, startMetricsServer } from "@workflow/service";
import type { Scope } from "@workflow/service";
import { startGatewayService } from "@workflow/service-gateway";
import { startIntegrationsService } from "@workflow/service-integrations";
import {
  createAgentClient,
  createEmailClient,
  createProviderClient,
  createSecretsClient,
  createTablesClient,
  startRunsService,
} from "@workflow/service-runs";
import { startTablesService } from "@workflow/service-tables";
import { startWebhooksService } from "@workflow/service-webhooks";
import { startWorkflowsService } from "@workflow/service-workflows";
import type { Registry } from "prom-client";
import { EVENT_STREAMS } from "./event-consumers.ts";
import type { SigningKeys } from "./keys.ts";
import type { ServiceLog } from "./service-log.ts";
import type { DatabaseUrlOf } from "./service-logins.ts";
import type { Settings } from "./settings.ts";
import { explain, StartError } from "./start-error.ts";
import { openTracers } from "./tracers.ts";

/** What the services share. */
export interface Surroundings {
  databaseUrlOf: DatabaseUrlOf;
  /** With which each service signs the tokens that it shows to others. */
  signingKeys: SigningKeys;
  /** The keys that encrypt stored secrets; the first one encrypts. */
  loadSecretsKeks: () => Promise<readonly Buffer[]>;
  log: ServiceLog;
}

/**
 * Starts all services in this process, the gateway last; they talk gRPC to each other as if they
 * were apart. The scope takes charge of each.
 *
 * @throws StartError naming the service and its settings
 */
export async function startServices(
  settings: Settings,
  surroundings: Surroundings,
  scope: Scope,
): Promise<void> {
  const { databaseUrlOf, log, signingKeys } = surroundings;
  const signerOf = (issuer: TokenIssuer): TokenSigner =>
    createTokenSigner({ issuer, privateKeyPem: signingKeys[issuer] });
  const metricsRegistry = await startMetrics(settings, scope);
  const tls = await loadTlsFiles(settings);
  const logger = log.loggerOf("certificates");
  followCertificates(tls, { registry: metricsRegistry, logger }, scope);
  const httpTls = settings.WEBHOOKS_HTTP_TLS ? httpTlsOf(tls) : undefined;
  const common = {
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    tokenPublicKeys: publicKeysOf(signingKeys, settings.INTERNAL_TOKEN_PUBLIC_KEYS ?? {}),
    grpcTls: tls,
    grpcReflection: settings.GRPC_REFLECTION,
    metricsRegistry,
  };
  const tracerOf = openTracers(settings, log, common.metricsRegistry, scope);
  const bus = createEventBus(settings, log, common.metricsRegistry);
  scope.defer(() => bus.close());

  const tables = await launch("tables", "TABLES_GRPC_ADDR", scope, () =>
    startTablesService({
      ...common,
      databaseUrl: databaseUrlOf("tables"),
      bus,
      cacheBytesMax: settings.TABLES_CACHE_MB * 1024 * 1024,
      tableBytesMax: settings.TABLE_BYTES_MAX,
      companyTableBytesMax: settings.TABLES_COMPANY_BYTES_MAX,
      threads: settings.TABLES_THREADS,
      grpcAddress: settings.TABLES_GRPC_ADDR,
      logger: log.loggerOf("tables"),
      tracer: tracerOf("tables"),
    }),
  );
  const integrations = await launch("integrations", "INTEGRATIONS_GRPC_ADDR", scope, () =>
    startIntegrationsService({
      ...common,
      databaseUrl: databaseUrlOf("integrations"),
      loadKeks: surroundings.loadSecretsKeks,
      bus,
      mail: {
        smtpUrl: settings.SMTP_URL,
        emailFrom: settings.EMAIL_FROM,
        fromDomains: settings.EMAIL_FROM_DOMAINS,
        perDay: settings.EMAIL_PER_DAY,
      },
      agentCalls: {
        tokensPerDay: settings.AGENT_TOKENS_PER_DAY,
        retentionDays: settings.AGENT_EXECUTION_RETENTION_DAYS,
      },
      providers: settings.providers,
      broker:
        settings.NANGO_SECRET_KEY === undefined
          ? null
          : { baseUrl: settings.NANGO_BASE_URL, secretKey: settings.NANGO_SECRET_KEY },
      models: {
        openai: {
          apiKey: settings.OPENAI_API_KEY,
          baseUrl: settings.OPENAI_BASE_URL,
          model: settings.OPENAI_MODEL,
          api: settings.OPENAI_API,
        },
        anthropic: {
          apiKey: settings.ANTHROPIC_API_KEY,
          baseUrl: settings.ANTHROPIC_BASE_URL,
          model: settings.ANTHROPIC_MODEL,
        },
      },
      agentTimeoutMs: settings.AGENT_TIMEOUT_MS,
      outboundAllowPrivate: settings.OUTBOUND_ALLOW_PRIVATE,
      outboundDnsServers: settings.OUTBOUND_DNS_SERVERS,
      outboundNat64Prefixes: settings.OUTBOUND_NAT64_PREFIXES,
      grpcAddress: settings.INTEGRATIONS_GRPC_ADDR,
      logger: log.loggerOf("integrations"),
      tracer: tracerOf("integrations"),
    }),
  );
  const toIntegrations = {
    address: integrations.grpcAddress,
    tokenSigner: signerOf("runs"),
    tls: common.grpcTls,
    tracer: tracerOf("runs"),
  };
  const secrets = createSecretsClient(toIntegrations);
  scope.defer(() => secrets.close());
  const email = createEmailClient(toIntegrations);
  scope.defer(() => email.close());
  const providers = createProviderClient(toIntegrations);
  scope.defer(() => providers.close());
  const agents = createAgentClient(toIntegrations);
  scope.defer(() => agents.close());
  const tableRows = createTablesClient({ ...toIntegrations, address: tables.grpcAddress });
  scope.defer(() => tableRows.close());
  const runs = await launch("runs", "RUNS_GRPC_ADDR", scope, () =>
    startRunsService({
      ...common,
      databaseUrl: databaseUrlOf("runs"),
      role: "all",
      grpcAddress: settings.RUNS_GRPC_ADDR,
      tls: common.grpcTls,
      bus,
      secrets,
      email,
      providers,
      agents,
      tables: tableRows,
      outboundAllowPrivate: settings.OUTBOUND_ALLOW_PRIVATE,
      outboundDnsServers: settings.OUTBOUND_DNS_SERVERS,
      outboundNat64Prefixes: settings.OUTBOUND_NAT64_PREFIXES,
      workerConcurrency: settings.WORKER_CONCURRENCY,
      workerPool: settings.RUNS_POOL,
      workerMemoryBytes: settings.WORKER_MEMORY_MB * 1024 * 1024,
      runBytesMax: settings.RUN_BYTES_MAX,
      leaseMs: settings.RUNS_LEASE_MS,
      companyBacklogMax: settings.COMPANY_BACKLOG_MAX,
      companyWatchersMax: settings.COMPANY_WATCHERS_MAX,
      companySyncWaitsMax: settings.COMPANY_SYNC_WAITS_MAX,
      runRetentionDays: settings.RUN_RETENTION_DAYS,
      logger: log.loggerOf("runs"),
      tracer: tracerOf("runs"),
    }),
  );
  const runsGrpcAddress = runs.grpcAddress ?? settings.RUNS_GRPC_ADDR;
  const workflows = await launch("workflows", "WORKFLOWS_GRPC_ADDR", scope, () =>
    startWorkflowsService({
      ...common,
      databaseUrl: databaseUrlOf("workflows"),
      grpcAddress: settings.WORKFLOWS_GRPC_ADDR,
      runsGrpcAddress,
      tokenSigner: signerOf("workflows"),
      agentModels: { openai: settings.OPENAI_MODEL, anthropic: settings.ANTHROPIC_MODEL },
      bus,
      logger: log.loggerOf("workflows"),
      tracer: tracerOf("workflows"),
    }),
  );
  const webhooks = await launch("webhooks", "WEBHOOKS_GRPC_ADDR, WEBHOOKS_HTTP_ADDR", scope, () =>
    startWebhooksService({
      ...common,
      databaseUrl: databaseUrlOf("webhooks"),
      loadKeks: surroundings.loadSecretsKeks,
      bus,
      grpcAddress: settings.WEBHOOKS_GRPC_ADDR,
      httpAddress: settings.WEBHOOKS_HTTP_ADDR,
      httpTls,
      runsGrpcAddress,
      integrationsGrpcAddress: integrations.grpcAddress,
      tokenSigner: signerOf("webhooks"),
      inboundSecrets: {
        stripe: settings.STRIPE_WEBHOOK_SECRET,
        resend: settings.RESEND_WEBHOOK_SECRET,
        airwallex: settings.AIRWALLEX_WEBHOOK_SECRET,
        hubspot: settings.HUBSPOT_CLIENT_SECRET,
        finance: settings.FINANCE_WEBHOOK_SECRET,
        nango: settings.NANGO_WEBHOOK_SECRET,
      },
      requireSignature: settings.WEBHOOK_REQUIRE_SIGNATURE,
      retryDelaysMs: settings.DELIVERY_RETRY_DELAYS_MS,
      retentionDays: settings.WEBHOOK_RETENTION_DAYS,
      publicUrl: settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}`,
      outboundAllowPrivate: settings.OUTBOUND_ALLOW_PRIVATE,
      outboundDnsServers: settings.OUTBOUND_DNS_SERVERS,
      outboundNat64Prefixes: settings.OUTBOUND_NAT64_PREFIXES,
      logger: log.loggerOf("webhooks"),
      tracer: tracerOf("webhooks"),
    }),
  );
  await launch("gateway", "PORT", scope, () =>
    startGatewayService({
      ...common,
      databaseUrl: databaseUrlOf("gateway"),
      port: settings.PORT,
      publicUrl: settings.PUBLIC_URL,
      trustedProxies: settings.TRUSTED_PROXIES,
      corsOrigins: settings.CORS_ORIGINS,
      connectionsMax: settings.CONNECTIONS_MAX,
      companyConnectionsMax: settings.COMPANY_CONNECTIONS_MAX,
      auditRetentionDays: settings.AUDIT_RETENTION_DAYS,
      tokenSigner: signerOf("gateway"),
      bus,
      workflowsGrpcAddress: workflows.grpcAddress,
      runsGrpcAddress,
      tablesGrpcAddress: tables.grpcAddress,
      integrationsGrpcAddress: integrations.grpcAddress,
      webhooksGrpcAddress: webhooks.grpcAddress,
      webhooksHttpAddress: webhooks.httpAddress,
      webhooksHttpTls: httpTls,
      rateLimits: {
        limits: {
          read: settings.RATE_LIMIT_READ,
          write: settings.RATE_LIMIT_WRITE,
          execute: settings.RATE_LIMIT_EXECUTE,
        },
        companyFactor: settings.RATE_LIMIT_COMPANY_FACTOR,
        inbound: settings.RATE_LIMIT_INBOUND,
        natsUrl: settings.NATS_URL,
      },
      logger: log.loggerOf("gateway"),
      tracer: tracerOf("gateway"),
    }),
  );
}

/** The issuers' own keys, whose PEM gives the public half as well, and those of the setting. */
function publicKeysOf(own: SigningKeys, more: IssuerKeys): IssuerKeys {
  return Object.fromEntries(
    TOKEN_ISSUERS.map((issuer) => [issuer, [own[issuer], ...(more[issuer] ?? [])]]),
  );
}

async function launch<Service extends { stop(): Promise<void> }>(
  name: string,
  setting: string,
  scope: Scope,
  start: () => Promise<Service>,
): Promise<Service> {
  try {
    return scope.adopt(await start(), (service) => service.stop());
  } catch (error) {
    const reason = explain(error);
    throw new StartError(`The ${name} service (${setting}) did not start: ${reason}`, {
      cause: error,
    });
  }
}

/** Consumers are named, so that events wait until they are there. */
function createEventBus(settings: Settings, log: ServiceLog, metricsRegistry: Registry): EventBus {
  if (settings.NATS_URL === undefined) {
    return createInProcessEventBus({ consumers: EVENT_STREAMS });
  }
  const logger = log.loggerOf("events");
  return createNatsEventBus({
    servers: settings.NATS_URL,
    name: "workflow",
    logger,
    replicas: settings.NATS_REPLICAS,
    metricsRegistry,
  });
}

async function startMetrics(settings: Settings, scope: Scope) {
  const registry = createMetricsRegistry();
  const server = await startMetricsServer(
    { host: settings.METRICS_HOST, port: settings.METRICS_PORT },
    registry,
  );
  scope.defer(() => server?.close());
  return registry;
}

async function loadTlsFiles(settings: Settings): Promise<RpcTls | undefined> {
  try {
    return await loadTls({
      certFile: settings.GRPC_TLS_CERT_FILE,
      keyFile: settings.GRPC_TLS_KEY_FILE,
      caFile: settings.GRPC_TLS_CA_FILE,
      allowPlaintext: settings.GRPC_ALLOW_PLAINTEXT,
    });
  } catch (error) {
    throw new StartError(`GRPC_TLS_CERT_FILE, _KEY_FILE, _CA_FILE: ${explain(error)}`, {
      cause: error,
    });
  }
}
