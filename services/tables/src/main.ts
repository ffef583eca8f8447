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
import { startTablesService } from "./service.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/** Above the server's own time for finishing calls. */
const STOP_TIMEOUT_MS = 15_000;

await runMain("tables", start, { stopTimeoutMs: STOP_TIMEOUT_MS });

async function start(signal: AbortSignal) {
  const config = readConfig(process.env);
  const scope = createScope();
  return scope.guard(async () => {
    const logger = createLogger({ name: "tables", level: config.LOG_LEVEL });
    const metricsRegistry = createMetricsRegistry();
    const traces = openServiceTraces(traceSettings(config), { logger, metricsRegistry });
    scope.defer(() => traces?.close());
    const tracer = traces?.tracer("tables");
    const bus = createNatsEventBus({
      servers: config.NATS_URL,
      name: "tables",
      logger,
      replicas: config.NATS_REPLICAS,
      metricsRegistry,
    });
    scope.defer(() => bus.close());
    const tls = await loadTls(config.tlsFiles);
    const operations = await startOperations(
      {
        name: "tables",
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
      startTablesService({
        databaseUrl: config.DATABASE_URL,
        databasePoolSize: config.DATABASE_POOL_SIZE,
        bus,
        cacheBytesMax: config.TABLES_CACHE_MB * 1024 * 1024,
        tableBytesMax: config.TABLE_BYTES_MAX,
        companyTableBytesMax: config.TABLES_COMPANY_BYTES_MAX,
        threads: config.TABLES_THREADS,
        grpcAddress: config.TABLES_GRPC_ADDR,
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
