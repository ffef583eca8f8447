import { createNatsEventBus } from "@workflow/events";
import { createTokenSigner, loadTls } from "@workflow/rpc";
import {
  createLogger,
  createMetricsRegistry,
  createScope,
  openServiceTraces,
  runMain,
  startMetricsServer,
} from "@workflow/service";
import { readConfig } from "./config.ts";
import { startWebhooksService } from "./service.ts";

/** Above the server's own time for finishing calls. */
const STOP_TIMEOUT_MS = 15_000;

await runMain("webhooks", start, { stopTimeoutMs: STOP_TIMEOUT_MS });

async function start() {
  const config = readConfig(process.env);
  const scope = createScope();
  return scope.guard(async () => {
    const logger = createLogger({ name: "webhooks", level: config.LOG_LEVEL });
    const metricsRegistry = createMetricsRegistry();
    const metrics = await startMetricsServer(
      { host: config.METRICS_HOST, port: config.METRICS_PORT },
      metricsRegistry,
    );
    scope.defer(() => metrics?.close());
    const traces = openServiceTraces(
      {
        endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
        headers: config.OTEL_EXPORTER_OTLP_HEADERS,
        sampler: config.OTEL_TRACES_SAMPLER,
        ratio: config.OTEL_TRACES_SAMPLER_ARG,
      },
      { logger, metricsRegistry },
    );
    if (traces !== undefined) scope.defer(() => traces.close());
    const tracer = traces?.tracer("webhooks");
    const bus = createNatsEventBus({
      servers: config.NATS_URL,
      name: "webhooks",
      logger,
      replicas: config.NATS_REPLICAS,
      metricsRegistry,
    });
    scope.defer(() => bus.close());
    const service = await startWebhooksService({
      databaseUrl: config.DATABASE_URL,
      databasePoolSize: config.DATABASE_POOL_SIZE,
      loadKeks: () => Promise.resolve(config.SECRETS_KEK),
      bus,
      grpcAddress: config.WEBHOOKS_GRPC_ADDR,
      httpAddress: config.WEBHOOKS_HTTP_ADDR,
      runsGrpcAddress: config.RUNS_GRPC_ADDR,
      integrationsGrpcAddress: config.INTEGRATIONS_GRPC_ADDR,
      tokenSigner: createTokenSigner({
        issuer: "webhooks",
        privateKeyPem: config.INTERNAL_TOKEN_PRIVATE_KEY,
      }),
      tokenPublicKeys: config.INTERNAL_TOKEN_PUBLIC_KEYS,
      grpcReflection: config.GRPC_REFLECTION,
      grpcTls: await loadTls(config.tlsFiles),
      inboundSecrets: config.inboundSecrets,
      requireSignature: config.WEBHOOK_REQUIRE_SIGNATURE,
      retryDelaysMs: config.DELIVERY_RETRY_DELAYS_MS,
      retentionDays: config.WEBHOOK_RETENTION_DAYS,
      publicUrl: config.PUBLIC_URL,
      outboundAllowPrivate: config.OUTBOUND_ALLOW_PRIVATE,
      outboundDnsServers: config.OUTBOUND_DNS_SERVERS,
      outboundNat64Prefixes: config.OUTBOUND_NAT64_PREFIXES,
      logger,
      metricsRegistry,
      tracer,
    });
    scope.defer(() => service.stop());
    return { stop: () => scope.close() };
  });
}
