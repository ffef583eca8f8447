import { createInProcessEventBus, createNatsEventBus } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { createTokenSigner, loadTls, readVerificationKey } from "@workflow/rpc";
import type { RpcTls } from "@workflow/rpc";
import { createMetricsRegistry, startMetricsServer } from "@workflow/service";
import type { Scope } from "@workflow/service";
import {
  EVENT_CONSUMERS as GATEWAY_CONSUMERS,
  startGatewayService,
} from "@workflow/service-gateway";
import {
  EVENT_CONSUMERS as INTEGRATIONS_CONSUMERS,
  startIntegrationsService,
} from "@workflow/service-integrations";
import {
  createEmailClient,
  createSecretsClient,
  createTablesClient,
  EVENT_CONSUMERS as RUNS_CONSUMERS,
  startRunsService,
} from "@workflow/service-runs";
import { startTablesService } from "@workflow/service-tables";
import { startWebhooksService } from "@workflow/service-webhooks";
import { startWorkflowsService } from "@workflow/service-workflows";
import type { ServiceLog } from "./service-log.ts";
import type { Settings } from "./settings.ts";
import { explain, StartError } from "./start-error.ts";

/** What the services share. */
export interface Surroundings {
  databaseUrl: string;
  signingKeyPem: string;
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
  const { log, signingKeyPem } = surroundings;
  const common = {
    databaseUrl: surroundings.databaseUrl,
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    tokenPublicKeys: [signingKeyPem, ...(settings.INTERNAL_TOKEN_PUBLIC_KEYS ?? [])].map(
      readVerificationKey,
    ),
    tokenSigner: createTokenSigner({ privateKeyPem: signingKeyPem }),
    grpcTls: await loadTlsFiles(settings),
    metricsRegistry: await startMetrics(settings, scope),
  };
  const bus = createEventBus(settings, log);
  scope.defer(() => bus.close());

  const tables = await launch("tables", "TABLES_GRPC_ADDR", scope, () =>
    startTablesService({
      ...common,
      bus,
      cacheBytesMax: settings.TABLES_CACHE_MB * 1024 * 1024,
      grpcAddress: settings.TABLES_GRPC_ADDR,
      logger: log.loggerOf("tables"),
    }),
  );
  const integrations = await launch("integrations", "INTEGRATIONS_GRPC_ADDR", scope, () =>
    startIntegrationsService({
      ...common,
      loadKeks: surroundings.loadSecretsKeks,
      bus,
      mail: { smtpUrl: settings.SMTP_URL, emailFrom: settings.EMAIL_FROM },
      grpcAddress: settings.INTEGRATIONS_GRPC_ADDR,
      logger: log.loggerOf("integrations"),
    }),
  );
  await launch("webhooks", "WEBHOOKS_GRPC_ADDR", scope, () =>
    startWebhooksService({
      ...common,
      grpcAddress: settings.WEBHOOKS_GRPC_ADDR,
      logger: log.loggerOf("webhooks"),
    }),
  );
  const toIntegrations = {
    address: integrations.grpcAddress,
    tokenSigner: common.tokenSigner,
    tls: common.grpcTls,
  };
  const secrets = createSecretsClient(toIntegrations);
  scope.defer(() => secrets.close());
  const email = createEmailClient(toIntegrations);
  scope.defer(() => email.close());
  const tableRows = createTablesClient({ ...toIntegrations, address: tables.grpcAddress });
  scope.defer(() => tableRows.close());
  const runs = await launch("runs", "RUNS_GRPC_ADDR", scope, () =>
    startRunsService({
      ...common,
      role: "all",
      grpcAddress: settings.RUNS_GRPC_ADDR,
      tls: common.grpcTls,
      bus,
      secrets,
      email,
      tables: tableRows,
      outboundAllowPrivate: settings.OUTBOUND_ALLOW_PRIVATE,
      workerConcurrency: settings.WORKER_CONCURRENCY,
      logger: log.loggerOf("runs"),
    }),
  );
  const runsGrpcAddress = runs.grpcAddress ?? settings.RUNS_GRPC_ADDR;
  const workflows = await launch("workflows", "WORKFLOWS_GRPC_ADDR", scope, () =>
    startWorkflowsService({
      ...common,
      grpcAddress: settings.WORKFLOWS_GRPC_ADDR,
      runsGrpcAddress,
      agentModels: { openai: settings.OPENAI_MODEL, anthropic: settings.ANTHROPIC_MODEL },
      bus,
      logger: log.loggerOf("workflows"),
    }),
  );
  await launch("gateway", "PORT", scope, () =>
    startGatewayService({
      ...common,
      port: settings.PORT,
      trustedProxies: settings.TRUSTED_PROXIES,
      bus,
      workflowsGrpcAddress: workflows.grpcAddress,
      runsGrpcAddress,
      tablesGrpcAddress: tables.grpcAddress,
      integrationsGrpcAddress: integrations.grpcAddress,
      logger: log.loggerOf("gateway"),
    }),
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
function createEventBus(settings: Settings, log: ServiceLog): EventBus {
  if (settings.NATS_URL === undefined) {
    return createInProcessEventBus({
      consumers: { ...INTEGRATIONS_CONSUMERS, ...RUNS_CONSUMERS, ...GATEWAY_CONSUMERS },
    });
  }
  const logger = log.loggerOf("events");
  return createNatsEventBus({ servers: settings.NATS_URL, name: "workflow", logger });
}

async function startMetrics(settings: Settings, scope: Scope) {
  const registry = createMetricsRegistry();
  const server = await startMetricsServer(settings.METRICS_PORT, registry);
  scope.defer(() => server?.close());
  return registry;
}

async function loadTlsFiles(settings: Settings): Promise<RpcTls | undefined> {
  try {
    return await loadTls({
      certFile: settings.GRPC_TLS_CERT_FILE,
      keyFile: settings.GRPC_TLS_KEY_FILE,
      caFile: settings.GRPC_TLS_CA_FILE,
    });
  } catch (error) {
    throw new StartError(`GRPC_TLS_CERT_FILE, _KEY_FILE, _CA_FILE: ${explain(error)}`, {
      cause: error,
    });
  }
}
