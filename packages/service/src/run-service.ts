import { fileURLToPath } from "node:url";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { createNatsEventBus } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { loadTls } from "@workflow/rpc";
import type { RpcTls } from "@workflow/rpc";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { z } from "zod";
import type { Environment } from "./config.ts";
import { createLogger } from "./logger.ts";
import { createMetricsRegistry } from "./metrics.ts";
import { startOperations } from "./operations.ts";
import type { Operations, Peer } from "./operations.ts";
import type { ReadinessDetails } from "./readiness.ts";
import { runMain } from "./run-main.ts";
import type { Running } from "./run-main.ts";
import type { PROCESS_SETTINGS } from "./settings.ts";
import { openServiceTraces, traceSettings } from "./tracing.ts";

/** Longer than the time that a server takes to finish its calls. */
const STOP_TIMEOUT_MS = 15_000;

/** The settings that the process of every service has; it needs a database and an event bus. */
export type ProcessConfig = z.output<z.ZodObject<typeof PROCESS_SETTINGS>> & {
  DATABASE_URL: string;
  NATS_URL: string;
};

/** The parts of every process, under the names of the services' options. */
export interface ProcessParts {
  databaseUrl: string;
  bus: EventBus;
  /** Undefined without certificate files. */
  grpcTls: RpcTls | undefined;
  logger: Logger;
  metricsRegistry: Registry;
  /** Undefined without a collector. */
  tracer: Tracer | undefined;
}

/** The description of a service from which its process is built. */
export interface ServiceDescription<Config extends ProcessConfig> {
  /** The name of the service, of its database schema and of its connection to NATS. */
  name: string;
  /** The folder of the service's migrations. */
  migrations: URL;
  /** @throws ConfigError with everything that is missing or wrong */
  readConfig: (env: Environment) => Config;
  /** The services that this one calls; none by default. */
  peers?: (config: Config) => readonly Peer[];
  /** Further facts for /readyz; none by default. */
  details?: (config: Config) => ReadinessDetails;
  /**
   * Starts the service once its database is usable, and again when the database becomes unavailable
   * meanwhile. Resources that it defers to the scope are closed after the service, or after a failed
   * start.
   */
  start: (config: Config, parts: ProcessParts, scope: Scope) => Promise<Running>;
  /** The time limit of a stop, in milliseconds; 15,000 by default. */
  stopTimeoutMs?: number;
}

/**
 * Runs a service's process from its settings to its exit code. It opens logger, metrics, traces, event
 * bus and certificates, serves the operations port, and starts the service. On SIGTERM or SIGINT it
 * closes all of them in reverse order. Exit codes are those of `runMain`.
 */
export async function runService<Config extends ProcessConfig>(
  service: ServiceDescription<Config>,
): Promise<void> {
  const { name, stopTimeoutMs = STOP_TIMEOUT_MS } = service;
  await runMain(name, (signal) => startProcess(service, signal), { stopTimeoutMs });
}

async function startProcess<Config extends ProcessConfig>(
  service: ServiceDescription<Config>,
  signal: AbortSignal,
): Promise<Running> {
  const config = service.readConfig(process.env);
  const scope = createScope();
  return scope.guard(async () => {
    const opened = await openParts(service.name, config, scope);
    const operations = await openOperations(service, { config, opened, signal }, scope);
    await operations.start(() => startIn(scope, (own) => service.start(config, opened.parts, own)));
    return { stop: () => scope.close() };
  });
}

interface OpenedParts {
  parts: ProcessParts;
  /** The reason why events cannot be published at the moment; null when they can. */
  busTrouble: () => string | null;
}

async function openParts(name: string, config: ProcessConfig, scope: Scope): Promise<OpenedParts> {
  const logger = createLogger({ name, level: config.LOG_LEVEL });
  const metricsRegistry = createMetricsRegistry();
  const traces = openServiceTraces(traceSettings(config), { logger, metricsRegistry });
  scope.defer(() => traces?.close());
  const bus = createNatsEventBus({
    servers: config.NATS_URL,
    name,
    logger,
    replicas: config.NATS_REPLICAS,
    metricsRegistry,
  });
  scope.defer(() => bus.close());
  const grpcTls = await loadTls({
    certFile: config.GRPC_TLS_CERT_FILE,
    keyFile: config.GRPC_TLS_KEY_FILE,
    caFile: config.GRPC_TLS_CA_FILE,
    allowPlaintext: config.GRPC_ALLOW_PLAINTEXT,
  });
  const tracer = traces?.tracer(name);
  const { DATABASE_URL: databaseUrl } = config;
  const parts = { databaseUrl, bus, grpcTls, logger, metricsRegistry, tracer };
  return { parts, busTrouble: () => bus.trouble() };
}

function openOperations<Config extends ProcessConfig>(
  service: ServiceDescription<Config>,
  given: { config: Config; opened: OpenedParts; signal: AbortSignal },
  scope: Scope,
): Promise<Operations> {
  const { config, opened, signal } = given;
  const { parts, busTrouble } = opened;
  return startOperations(
    {
      name: service.name,
      config,
      migrations: fileURLToPath(service.migrations),
      busTrouble,
      peers: service.peers?.(config) ?? [],
      details: service.details?.(config) ?? {},
      tls: parts.grpcTls,
      registry: parts.metricsRegistry,
      logger: parts.logger,
      signal,
    },
    scope,
  );
}

/**
 * Starts a service with a scope of its own. A failed start closes that scope at once; otherwise the
 * outer scope owns it.
 */
async function startIn(scope: Scope, start: (own: Scope) => Promise<Running>): Promise<void> {
  const own = createScope();
  await own.guard(async () => {
    const running = await start(own);
    own.defer(() => running.stop());
  });
  scope.defer(() => own.close());
}
