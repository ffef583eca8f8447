import { createNatsEventBus } from "@workflow/events";
import { createTokenSigner, loadTls, readVerificationKey } from "@workflow/rpc";
import {
  createLogger,
  createMetricsRegistry,
  createScope,
  runMain,
  startMetricsServer,
} from "@workflow/service";
import { readConfig } from "./config.ts";
import { createEmailClient } from "./email/send-email-client.ts";
import { createSecretsClient } from "./secrets/resolve-secrets.ts";
import { startRunsService } from "./service.ts";
import { createTablesClient } from "./tables/tables-client.ts";

async function start() {
  const config = readConfig(process.env);
  const logger = createLogger({ name: "runs", level: config.LOG_LEVEL });
  const scope = createScope();
  return scope.guard(async () => {
    const metricsRegistry = createMetricsRegistry();
    const metrics = await startMetricsServer(config.METRICS_PORT, metricsRegistry);
    if (metrics !== undefined) scope.defer(() => metrics.close());
    const bus = createNatsEventBus({ servers: config.NATS_URL, name: "runs", logger });
    scope.defer(() => bus.close());
    const tls = await loadTls({
      certFile: config.GRPC_TLS_CERT_FILE,
      keyFile: config.GRPC_TLS_KEY_FILE,
      caFile: config.GRPC_TLS_CA_FILE,
    });
    const tokenSigner = createTokenSigner({ privateKeyPem: config.INTERNAL_TOKEN_PRIVATE_KEY });
    const integrations = { address: config.INTEGRATIONS_GRPC_ADDR, tokenSigner, tls };
    const secrets = createSecretsClient(integrations);
    scope.defer(() => secrets.close());
    const email = createEmailClient(integrations);
    scope.defer(() => email.close());
    const tables = createTablesClient({ address: config.TABLES_GRPC_ADDR, tokenSigner, tls });
    scope.defer(() => tables.close());
    const service = await startRunsService({
      role: config.RUNS_ROLE,
      databaseUrl: config.DATABASE_URL,
      databasePoolSize: config.DATABASE_POOL_SIZE,
      grpcAddress: config.RUNS_GRPC_ADDR,
      tokenPublicKeys: config.INTERNAL_TOKEN_PUBLIC_KEYS.map(readVerificationKey),
      tls,
      bus,
      secrets,
      email,
      tables,
      outboundAllowPrivate: config.OUTBOUND_ALLOW_PRIVATE,
      workerConcurrency: config.WORKER_CONCURRENCY,
      leaseMs: config.RUNS_LEASE_MS,
      logger,
      metricsRegistry,
    });
    scope.defer(() => service.stop());
    return { stop: () => scope.close() };
  });
}

await runMain("runs", start, { stopTimeoutMs: 20_000 });
