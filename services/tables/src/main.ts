import { createNatsEventBus } from "@workflow/events";
import { loadTls } from "@workflow/rpc";
import {
  createLogger,
  createMetricsRegistry,
  createScope,
  openServiceTraces,
  runMain,
  startMetricsServer,
} from "@workflow/service";
import { readConfig } from "./config.ts";
import { startTablesService } from "./service.ts";

/** Above the server's own time for finishing calls. */
const STOP_TIMEOUT_MS = 15_000;

await runMain("tables", start, { stopTimeoutMs: STOP_TIMEOUT_MS });

async function start() {
  const config = readConfig(process.env);
  const scope = createScope();
  return scope.guard(async () => {
    const logger = createLogger({ name: "tables", level: config.LOG_LEVEL });
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
    const tracer = traces?.tracer("tables");
    const bus = createNatsEventBus({
      servers: config.NATS_URL,
      name: "tables",
      logger,
      replicas: config.NATS_REPLICAS,
      metricsRegistry,
    });
    scope.defer(() => bus.close());
    const service = await startTablesService({
      databaseUrl: config.DATABASE_URL,
      databasePoolSize: config.DATABASE_POOL_SIZE,
      bus,
      cacheBytesMax: config.TABLES_CACHE_MB * 1024 * 1024,
      grpcAddress: config.TABLES_GRPC_ADDR,
      tokenPublicKeys: config.INTERNAL_TOKEN_PUBLIC_KEYS,
      grpcReflection: config.GRPC_REFLECTION,
      grpcTls: await loadTls(config.tlsFiles),
      logger,
      metricsRegistry,
      tracer,
    });
    scope.defer(() => service.stop());
    return { stop: () => scope.close() };
  });
}
