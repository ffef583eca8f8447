import { fileURLToPath } from "node:url";
import { createNatsEventBus } from "@workflow/events";
import { createTokenSigner, httpTlsOf, loadTls } from "@workflow/rpc";
import {
  createLogger,
  createMetricsRegistry,
  createScope,
  openServiceTraces,
  runMain,
  startOperations,
  traceSettings,
} from "@workflow/service";
import { readConfig } from "./config.ts";
import { startGatewayService } from "./service.ts";

/** Longer than the gateway's own time for draining. */
const STOP_TIMEOUT_MS = 15_000;

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

async function start(signal: AbortSignal) {
  const config = readConfig(process.env);
  const scope = createScope();
  return scope.guard(async () => {
    const metricsRegistry = createMetricsRegistry();
    const logger = createLogger({ name: "gateway", level: config.LOG_LEVEL });
    const traces = openServiceTraces(traceSettings(config), { logger, metricsRegistry });
    scope.defer(() => traces?.close());
    const tracer = traces?.tracer("gateway");
    const bus = createNatsEventBus({
      servers: config.NATS_URL,
      name: "gateway",
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
        name: "gateway",
        config,
        migrations: MIGRATIONS,
        busTrouble: () => bus.trouble(),
        peers: [
          {
            name: "workflows",
            setting: "WORKFLOWS_GRPC_ADDR",
            address: config.WORKFLOWS_GRPC_ADDR,
            isNeeded: true,
          },
          {
            name: "runs",
            setting: "RUNS_GRPC_ADDR",
            address: config.RUNS_GRPC_ADDR,
            isNeeded: true,
          },
          { name: "tables", setting: "TABLES_GRPC_ADDR", address: config.TABLES_GRPC_ADDR },
          {
            name: "integrations",
            setting: "INTEGRATIONS_GRPC_ADDR",
            address: config.INTEGRATIONS_GRPC_ADDR,
          },
          { name: "webhooks", setting: "WEBHOOKS_GRPC_ADDR", address: config.WEBHOOKS_GRPC_ADDR },
        ],
        tls,
        registry: metricsRegistry,
        logger,
        signal,
      },
      scope,
    );
    const gateway = await operations.start(() =>
      startGatewayService({
        port: config.PORT,
        publicUrl: config.PUBLIC_URL,
        trustedProxies: config.TRUSTED_PROXIES,
        corsOrigins: config.CORS_ORIGINS,
        connectionsMax: config.CONNECTIONS_MAX,
        companyConnectionsMax: config.COMPANY_CONNECTIONS_MAX,
        stopDelayMs: config.STOP_DELAY_MS,
        auditRetentionDays: config.AUDIT_RETENTION_DAYS,
        databaseUrl: config.DATABASE_URL,
        databasePoolSize: config.DATABASE_POOL_SIZE,
        workflowsGrpcAddress: config.WORKFLOWS_GRPC_ADDR,
        runsGrpcAddress: config.RUNS_GRPC_ADDR,
        tablesGrpcAddress: config.TABLES_GRPC_ADDR,
        integrationsGrpcAddress: config.INTEGRATIONS_GRPC_ADDR,
        webhooksGrpcAddress: config.WEBHOOKS_GRPC_ADDR,
        webhooksHttpAddress: config.WEBHOOKS_HTTP_ADDR,
        webhooksHttpTls: config.WEBHOOKS_HTTP_TLS ? httpTlsOf(tls) : undefined,
        rateLimits: {
          limits: {
            read: config.RATE_LIMIT_READ,
            write: config.RATE_LIMIT_WRITE,
            execute: config.RATE_LIMIT_EXECUTE,
          },
          companyFactor: config.RATE_LIMIT_COMPANY_FACTOR,
          inbound: config.RATE_LIMIT_INBOUND,
          natsUrl: config.NATS_URL,
        },
        tokenSigner: createTokenSigner({
          issuer: "gateway",
          privateKeyPem: config.INTERNAL_TOKEN_PRIVATE_KEY,
        }),
        grpcTls: tls,
        bus,
        logger,
        metricsRegistry,
        tracer,
      }),
    );
    scope.defer(() => gateway.stop());
    return { stop: () => scope.close() };
  });
}

await runMain("gateway", start, { stopTimeoutMs: STOP_TIMEOUT_MS });
