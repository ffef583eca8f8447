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
import { startWebhooksService } from "./service.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/** More than the server's own time for finishing calls. */
const STOP_TIMEOUT_MS = 15_000;

await runMain("webhooks", start, { stopTimeoutMs: STOP_TIMEOUT_MS });

async function start(signal: AbortSignal) {
  const config = readConfig(process.env);
  const scope = createScope();
  return scope.guard(async () => {
    const logger = createLogger({ name: "webhooks", level: config.LOG_LEVEL });
    const metricsRegistry = createMetricsRegistry();
    const traces = openServiceTraces(traceSettings(config), { logger, metricsRegistry });
    scope.defer(() => traces?.close());
    const tracer = traces?.tracer("webhooks");
    const bus = createNatsEventBus({
      servers: config.NATS_URL,
      name: "webhooks",
      logger,
      replicas: config.NATS_REPLICAS,
      metricsRegistry,
    });
    scope.defer(() => bus.close());
    const tls = await loadTls(config.tlsFiles);
    const operations = await startOperations(
      {
        name: "webhooks",
        config,
        migrations: MIGRATIONS,
        busTrouble: () => bus.trouble(),
        peers: [
          { name: "runs", setting: "RUNS_GRPC_ADDR", address: config.RUNS_GRPC_ADDR },
          {
            name: "integrations",
            setting: "INTEGRATIONS_GRPC_ADDR",
            address: config.INTEGRATIONS_GRPC_ADDR,
          },
        ],
        tls,
        registry: metricsRegistry,
        logger,
        signal,
      },
      scope,
    );
    const service = await operations.start(() =>
      startWebhooksService({
        databaseUrl: config.DATABASE_URL,
        databasePoolSize: config.DATABASE_POOL_SIZE,
        loadKeks: () => Promise.resolve(config.SECRETS_KEK),
        bus,
        grpcAddress: config.WEBHOOKS_GRPC_ADDR,
        httpAddress: config.WEBHOOKS_HTTP_ADDR,
        stopDelayMs: config.STOP_DELAY_MS,
        httpTls: config.WEBHOOKS_HTTP_TLS ? httpTlsOf(tls) : undefined,
        runsGrpcAddress: config.RUNS_GRPC_ADDR,
        integrationsGrpcAddress: config.INTEGRATIONS_GRPC_ADDR,
        tokenSigner: createTokenSigner({
          issuer: "webhooks",
          privateKeyPem: config.INTERNAL_TOKEN_PRIVATE_KEY,
        }),
        tokenPublicKeys: config.INTERNAL_TOKEN_PUBLIC_KEYS,
        grpcReflection: config.GRPC_REFLECTION,
        grpcTls: tls,
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
      }),
    );
    scope.defer(() => service.stop());
    return { stop: () => scope.close() };
  });
}
