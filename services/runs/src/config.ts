import { ConfigError, parseConfig, pickSettings } from "@workflow/service";
import type { Environment } from "@workflow/service";
import type { z } from "zod";

const picked = pickSettings(
  "DATABASE_URL",
  "DATABASE_POOL_SIZE",
  "NATS_URL",
  "NATS_REPLICAS",
  "TASK_RUNTIME",
  "RUNS_GRPC_ADDR",
  "TABLES_GRPC_ADDR",
  "INTEGRATIONS_GRPC_ADDR",
  "GRPC_REFLECTION",
  "GRPC_TLS_CERT_FILE",
  "GRPC_TLS_KEY_FILE",
  "GRPC_TLS_CA_FILE",
  "GRPC_ALLOW_PLAINTEXT",
  "INTERNAL_TOKEN_PRIVATE_KEY",
  "INTERNAL_TOKEN_PUBLIC_KEYS",
  "OUTBOUND_ALLOW_PRIVATE",
  "OUTBOUND_DNS_SERVERS",
  "OUTBOUND_NAT64_PREFIXES",
  "RUNS_ROLE",
  "RUNS_POOL",
  "RUNS_LEASE_MS",
  "WORKER_CONCURRENCY",
  "WORKER_MEMORY_MB",
  "RUN_BYTES_MAX",
  "COMPANY_BACKLOG_MAX",
  "COMPANY_WATCHERS_MAX",
  "COMPANY_SYNC_WAITS_MAX",
  "RUN_RETENTION_DAYS",
  "LOG_LEVEL",
  "METRICS_HOST",
  "METRICS_PORT",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_TRACES_SAMPLER",
  "OTEL_TRACES_SAMPLER_ARG",
);

/** The settings of the service wherever it runs; `npm start` makes those itself that a process requires. */
export type RunsSettings = z.output<typeof picked>;

export const settings = picked.required({
  DATABASE_URL: true,
  NATS_URL: true,
  INTERNAL_TOKEN_PRIVATE_KEY: true,
  INTERNAL_TOKEN_PUBLIC_KEYS: true,
});

/** The settings of a runs service that is a process of its own. */
export type RunsConfig = z.output<typeof settings>;

/**
 * Reads the settings.
 *
 * @throws ConfigError naming everything that is missing or wrong
 */
export function readConfig(env: Environment): RunsConfig {
  const config = parseConfig(settings, env);
  assertTaskRuntime(config.TASK_RUNTIME);
  return config;
}

/** Refuses a task runtime that this version does not have. */
function assertTaskRuntime(name: RunsConfig["TASK_RUNTIME"]): void {
  if (name === "postgres") return;
  const message = `"${name}" is not available in this version; use "postgres"`;
  throw new ConfigError([{ setting: "TASK_RUNTIME", message }]);
}
