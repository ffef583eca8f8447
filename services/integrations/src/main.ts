import { fileURLToPath } from "node:url";
import { createNatsEventBus } from "@workflow/events";
import { loadTls } from "@workflow/rpc";
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
import { startIntegrationsService } from "./service.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/** Above the server's own time for finishing calls. */
const STOP_TIMEOUT_MS = 15_000;

await runMain("integrations", start, { stopTimeoutMs: STOP_TIMEOUT_MS });

async function start(signal: AbortSignal) {
  const config = readConfig(process.env);
  const scope = createScope();
  return scope.guard(async () => {
    const logger = createLogger({ name: "integrations", level: config.LOG_LEVEL });
    const metricsRegistry = createMetricsRegistry();
    const traces = openServiceTraces(traceSettings(config), { logger, metricsRegistry });
    scope.defer(() => traces?.close());
    const tracer = traces?.tracer("integrations");
    const bus = createNatsEventBus({
      servers: config.NATS_URL,
      name: "integrations",
      logger,
      replicas: config.NATS_REPLICAS,
      metricsRegistry,
    });
    scope.defer(() => bus.close());
    const tls = await loadTls(config.tlsFiles);
    const operations = await startOperations(
      {
        name: "integrations",
        config,
        migrations: MIGRATIONS,
        busTrouble: () => bus.trouble(),
        tls,
        registry: metricsRegistry,
        logger,
        signal,
      },
      scope,
    );
    const service = await operations.start(() =>
      startIntegrationsService({
        databaseUrl: config.DATABASE_URL,
        databasePoolSize: config.DATABASE_POOL_SIZE,
        loadKeks: () => Promise.resolve(config.SECRETS_KEK),
        bus,
        mail: {
          smtpUrl: config.SMTP_URL,
          emailFrom: config.EMAIL_FROM,
          fromDomains: config.EMAIL_FROM_DOMAINS,
          perDay: config.EMAIL_PER_DAY,
        },
        agentCalls: {
          tokensPerDay: config.AGENT_TOKENS_PER_DAY,
          retentionDays: config.AGENT_EXECUTION_RETENTION_DAYS,
        },
        providers: config.providers,
        broker: config.broker,
        models: config.models,
        agentTimeoutMs: config.AGENT_TIMEOUT_MS,
        outboundAllowPrivate: config.OUTBOUND_ALLOW_PRIVATE,
        outboundDnsServers: config.OUTBOUND_DNS_SERVERS,
        outboundNat64Prefixes: config.OUTBOUND_NAT64_PREFIXES,
        grpcAddress: config.INTEGRATIONS_GRPC_ADDR,
        tokenPublicKeys: config.INTERNAL_TOKEN_PUBLIC_KEYS,
        grpcReflection: config.GRPC_REFLECTION,
        grpcTls: tls,
        logger,
        metricsRegistry,
        tracer,
      }),
    );
    scope.defer(() => service.stop());
    return { stop: () => scope.close() };
  });
}
