import type { Scope } from "@workflow/async";
import { createInProcessEventBus, createNatsEventBus } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { createTokenSigner, httpTlsOf, loadTls, TOKEN_ISSUERS } from "@workflow/rpc";
import type { IssuerKeys, RpcTls, TokenIssuer, TokenSigner } from "@workflow/rpc";
import { createMetricsRegistry, followCertificates, startMetricsServer } from "@workflow/service";
import type { ProcessParts } from "@workflow/service/run-service";
import { startGatewayService } from "@workflow/service-gateway";
import { configuredOptions as gatewayOptions } from "@workflow/service-gateway/configured";
import { startIntegrationsService } from "@workflow/service-integrations";
import { configuredOptions as integrationsOptions } from "@workflow/service-integrations/configured";
import { connectPeers, startRunsService } from "@workflow/service-runs";
import { configuredOptions as runsOptions } from "@workflow/service-runs/configured";
import { startTablesService } from "@workflow/service-tables";
import { configuredOptions as tablesOptions } from "@workflow/service-tables/configured";
import { startWebhooksService } from "@workflow/service-webhooks";
import { configuredOptions as webhooksOptions } from "@workflow/service-webhooks/configured";
import { startWorkflowsService } from "@workflow/service-workflows";
import { configuredOptions as workflowsOptions } from "@workflow/service-workflows/configured";
import type { Registry } from "prom-client";
import { EVENT_STREAMS } from "./event-consumers.ts";
import type { SigningKeys } from "./keys.ts";
import type { ServiceLog } from "./service-log.ts";
import type { DatabaseUrlOf } from "./service-logins.ts";
import type { Settings } from "./settings.ts";
import { explain, StartError } from "./start-error.ts";
import type { ServiceName } from "./topology.ts";
import { openTracers } from "./tracers.ts";

/** The connections and keys that services share. */
export interface Infrastructure {
  databaseUrlOf: DatabaseUrlOf;
  /** The key with which each service signs its tokens for others. */
  signingKeys: SigningKeys;
  /** The keys that encrypt stored secrets; the first one encrypts. */
  loadSecretsKeks: () => Promise<readonly Buffer[]>;
  log: ServiceLog;
}

/** The settings and tools that the starts of all services share. */
interface Shared {
  readonly settings: Settings;
  readonly scope: Scope;
  readonly infrastructure: Infrastructure;
  readonly tokenPublicKeys: IssuerKeys;
  readonly httpTls: ReturnType<typeof httpTlsOf> | undefined;
  readonly signerOf: (issuer: TokenIssuer) => TokenSigner;
  readonly partsOf: (name: ServiceName) => ProcessParts;
}

/** The addresses of services that have started. */
interface Addresses {
  readonly integrationsGrpcAddress: string;
  readonly tablesGrpcAddress: string;
}

/**
 * Starts all services in this process, the gateway last. They call each other by gRPC as separate processes do. The
 * scope closes each.
 * @throws StartError that names the service and its settings
 */
export async function startServices(
  settings: Settings,
  infrastructure: Infrastructure,
  scope: Scope,
): Promise<void> {
  const shared = await openShared(settings, infrastructure, scope);
  const { partsOf, tokenPublicKeys, signerOf } = shared;
  const tables = await launch("tables", "TABLES_GRPC_ADDR", scope, () =>
    startTablesService({ ...tablesOptions(settings), ...partsOf("tables"), tokenPublicKeys }),
  );
  const integrations = await launch("integrations", "INTEGRATIONS_GRPC_ADDR", scope, () =>
    startIntegrationsService({
      ...integrationsOptions(settings),
      ...partsOf("integrations"),
      tokenPublicKeys,
      loadKeks: infrastructure.loadSecretsKeks,
    }),
  );
  const addresses: Addresses = {
    integrationsGrpcAddress: integrations.grpcAddress,
    tablesGrpcAddress: tables.grpcAddress,
  };
  const runsGrpcAddress = await startRuns(shared, addresses);
  const workflows = await launch("workflows", "WORKFLOWS_GRPC_ADDR", scope, () =>
    startWorkflowsService({
      ...workflowsOptions(settings),
      ...partsOf("workflows"),
      runsGrpcAddress,
      tokenPublicKeys,
      tokenSigner: signerOf("workflows"),
    }),
  );
  const webhooks = await startWebhooks(shared, { ...addresses, runsGrpcAddress });
  await launch("gateway", "PORT", scope, () =>
    startGatewayService({
      ...gatewayOptions(settings),
      ...partsOf("gateway"),
      ...addresses,
      workflowsGrpcAddress: workflows.grpcAddress,
      runsGrpcAddress,
      webhooksGrpcAddress: webhooks.grpcAddress,
      webhooksHttpAddress: webhooks.httpAddress,
      webhooksHttpTls: shared.httpTls,
      tokenSigner: signerOf("gateway"),
    }),
  );
}

async function openShared(
  settings: Settings,
  infrastructure: Infrastructure,
  scope: Scope,
): Promise<Shared> {
  const { databaseUrlOf, log, signingKeys } = infrastructure;
  const metricsRegistry = await startMetrics(settings, scope);
  const grpcTls = await loadTlsFiles(settings);
  const logger = log.loggerOf("certificates");
  followCertificates(grpcTls, { registry: metricsRegistry, logger }, scope);
  const tracerOf = openTracers(settings, log, metricsRegistry, scope);
  const bus = createEventBus(settings, log, metricsRegistry);
  scope.defer(() => bus.close());
  return {
    settings,
    scope,
    infrastructure,
    tokenPublicKeys: publicKeysOf(signingKeys, settings.INTERNAL_TOKEN_PUBLIC_KEYS ?? {}),
    httpTls: settings.WEBHOOKS_HTTP_TLS ? httpTlsOf(grpcTls) : undefined,
    signerOf: (issuer) => createTokenSigner({ issuer, privateKeyPem: signingKeys[issuer] }),
    partsOf: (name) => ({
      databaseUrl: databaseUrlOf(name),
      bus,
      grpcTls,
      logger: log.loggerOf(name),
      metricsRegistry,
      tracer: tracerOf(name),
    }),
  };
}

/** Starts the runs service; returns its address for gRPC. */
async function startRuns(
  { settings, scope, tokenPublicKeys, signerOf, partsOf }: Shared,
  addresses: Addresses,
): Promise<string> {
  const parts = partsOf("runs");
  const peers = connectPeers({ ...addresses, ...parts, tokenSigner: signerOf("runs") }, scope);
  const runs = await launch("runs", "RUNS_GRPC_ADDR", scope, () =>
    startRunsService({
      ...runsOptions(settings),
      ...parts,
      ...peers,
      role: "all",
      tokenPublicKeys,
    }),
  );
  return runs.grpcAddress ?? settings.RUNS_GRPC_ADDR;
}

function startWebhooks(
  { settings, scope, infrastructure, tokenPublicKeys, httpTls, signerOf, partsOf }: Shared,
  addresses: Addresses & { runsGrpcAddress: string },
) {
  return launch("webhooks", "WEBHOOKS_GRPC_ADDR, WEBHOOKS_HTTP_ADDR", scope, () =>
    startWebhooksService({
      ...webhooksOptions(settings),
      ...partsOf("webhooks"),
      ...addresses,
      tokenPublicKeys,
      tokenSigner: signerOf("webhooks"),
      loadKeks: infrastructure.loadSecretsKeks,
      httpTls,
      publicUrl: settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}`,
    }),
  );
}

/** The public keys of all issuers: those of the private PEMs, and those of the setting. */
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

/** Creates the event bus. Its consumers are named, so events wait until each one is there. */
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
