import { fileURLToPath } from "node:url";
import { createNatsEventBus } from "@workflow/events";
import { createTokenSigner, loadTls } from "@workflow/rpc";
import {
  createLogger,
  createMetricsRegistry,
  createScope,
  openServiceTraces,
  runMain,
  startOperations,
  traceSettings,
} from "@workflow/service";
import type { Peer } from "@workflow/service";
import { readConfig } from "./config.ts";
import type { RunsConfig } from "./config.ts";
import { createAgentClient } from "./effects/agent-client.ts";
import { createEmailClient } from "./effects/email-client.ts";
import { createProviderClient } from "./effects/provider-client.ts";
import { createTablesClient } from "./effects/tables-client.ts";
import { createSecretsClient } from "./secrets/resolve-secrets.ts";
import { startRunsService } from "./service.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

async function start(signal: AbortSignal) {
  const config = readConfig(process.env);
  const logger = createLogger({ name: "runs", level: config.LOG_LEVEL });
  const scope = createScope();
  return scope.guard(async () => {
    const metricsRegistry = createMetricsRegistry();
    const traces = openServiceTraces(traceSettings(config), { logger, metricsRegistry });
    scope.defer(() => traces?.close());
    const tracer = traces?.tracer("runs");
    const bus = createNatsEventBus({
      servers: config.NATS_URL,
      name: "runs",
      logger,
      replicas: config.NATS_REPLICAS,
      metricsRegistry,
    });
    scope.defer(() => bus.close());
    const tls = await loadTls({
      certFile: config.GRPC_TLS_CERT_FILE,
      keyFile: config.GRPC_TLS_KEY_FILE,
      caFile: config.GRPC_TLS_CA_FILE,
      allowPlaintext: config.GRPC_ALLOW_PLAINTEXT,
    });
    const operations = await startOperations(
      {
        name: "runs",
        config,
        migrations: MIGRATIONS,
        busTrouble: () => bus.trouble(),
        peers: config.RUNS_ROLE === "api" ? [] : peersOf(config),
        details: config.RUNS_ROLE === "api" ? {} : { pool: config.RUNS_POOL },
        tls,
        registry: metricsRegistry,
        logger,
        signal,
      },
      scope,
    );
    const tokenSigner = createTokenSigner({
      issuer: "runs",
      privateKeyPem: config.INTERNAL_TOKEN_PRIVATE_KEY,
    });
    const integrations = { address: config.INTEGRATIONS_GRPC_ADDR, tokenSigner, tls, tracer };
    const secrets = createSecretsClient(integrations);
    scope.defer(() => secrets.close());
    const email = createEmailClient(integrations);
    scope.defer(() => email.close());
    const providers = createProviderClient(integrations);
    scope.defer(() => providers.close());
    const agents = createAgentClient(integrations);
    scope.defer(() => agents.close());
    const tables = createTablesClient({ ...integrations, address: config.TABLES_GRPC_ADDR });
    scope.defer(() => tables.close());
    const service = await operations.start(() =>
      startRunsService({
        role: config.RUNS_ROLE,
        databaseUrl: config.DATABASE_URL,
        databasePoolSize: config.DATABASE_POOL_SIZE,
        grpcAddress: config.RUNS_GRPC_ADDR,
        tokenPublicKeys: config.INTERNAL_TOKEN_PUBLIC_KEYS,
        grpcReflection: config.GRPC_REFLECTION,
        tls,
        bus,
        secrets,
        email,
        providers,
        agents,
        tables,
        outboundAllowPrivate: config.OUTBOUND_ALLOW_PRIVATE,
        outboundDnsServers: config.OUTBOUND_DNS_SERVERS,
        outboundNat64Prefixes: config.OUTBOUND_NAT64_PREFIXES,
        workerConcurrency: config.WORKER_CONCURRENCY,
        workerPool: config.RUNS_POOL,
        workerMemoryBytes: config.WORKER_MEMORY_MB * 1024 * 1024,
        runBytesMax: config.RUN_BYTES_MAX,
        companyBacklogMax: config.COMPANY_BACKLOG_MAX,
        companyWatchersMax: config.COMPANY_WATCHERS_MAX,
        companySyncWaitsMax: config.COMPANY_SYNC_WAITS_MAX,
        runRetentionDays: config.RUN_RETENTION_DAYS,
        leaseMs: config.RUNS_LEASE_MS,
        logger,
        metricsRegistry,
        tracer,
      }),
    );
    scope.defer(() => service.stop());
    return { stop: () => scope.close() };
  });
}

/** What a worker calls; without them steps of some types wait or fail. */
function peersOf(config: RunsConfig): readonly Peer[] {
  return [
    {
      name: "integrations",
      setting: "INTEGRATIONS_GRPC_ADDR",
      address: config.INTEGRATIONS_GRPC_ADDR,
    },
    { name: "tables", setting: "TABLES_GRPC_ADDR", address: config.TABLES_GRPC_ADDR },
  ];
}

await runMain("runs", start, { stopTimeoutMs: 20_000 });
