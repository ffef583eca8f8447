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
import { readConfig } from "./config.ts";
import { startWorkflowsService } from "./service.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/** Longer than the server's own time for finishing calls. */
const STOP_TIMEOUT_MS = 15_000;

await runMain("workflows", start, { stopTimeoutMs: STOP_TIMEOUT_MS });

async function start(signal: AbortSignal) {
  const config = readConfig(process.env);
  const scope = createScope();
  return scope.guard(async () => {
    const logger = createLogger({ name: "workflows", level: config.LOG_LEVEL });
    const metricsRegistry = createMetricsRegistry();
    const traces = openServiceTraces(traceSettings(config), { logger, metricsRegistry });
    scope.defer(() => traces?.close());
    const tracer = traces?.tracer("workflows");
    const bus = createNatsEventBus({
      servers: config.NATS_URL,
      name: "workflows",
      logger,
      replicas: config.NATS_REPLICAS,
      metricsRegistry,
    });
    scope.defer(() => bus.close());
    const tls = await loadTls(config.tlsFiles);
    const operations = await startOperations(
      {
        name: "workflows",
        config,
        migrations: MIGRATIONS,
        busTrouble: () => bus.trouble(),
        peers: [{ name: "runs", setting: "RUNS_GRPC_ADDR", address: config.RUNS_GRPC_ADDR }],
        tls,
        registry: metricsRegistry,
        logger,
        signal,
      },
      scope,
    );
    const service = await operations.start(() =>
      startWorkflowsService({
        databaseUrl: config.DATABASE_URL,
        databasePoolSize: config.DATABASE_POOL_SIZE,
        grpcAddress: config.WORKFLOWS_GRPC_ADDR,
        runsGrpcAddress: config.RUNS_GRPC_ADDR,
        tokenPublicKeys: config.INTERNAL_TOKEN_PUBLIC_KEYS,
        tokenSigner: createTokenSigner({
          issuer: "workflows",
          privateKeyPem: config.INTERNAL_TOKEN_PRIVATE_KEY,
        }),
        grpcReflection: config.GRPC_REFLECTION,
        grpcTls: tls,
        agentModels: { openai: config.OPENAI_MODEL, anthropic: config.ANTHROPIC_MODEL },
        bus,
        logger,
        metricsRegistry,
        tracer,
      }),
    );
    scope.defer(() => service.stop());
    return { stop: () => scope.close() };
  });
}
