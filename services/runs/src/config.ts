import { ConfigError, parseConfig, pickSettings } from "@workflow/service";
import type { Environment } from "@workflow/service";
import type { z } from "zod";

const settings = pickSettings(
  "DATABASE_URL",
  "DATABASE_POOL_SIZE",
  "NATS_URL",
  "TASK_RUNTIME",
  "RUNS_GRPC_ADDR",
  "TABLES_GRPC_ADDR",
  "INTEGRATIONS_GRPC_ADDR",
  "GRPC_TLS_CERT_FILE",
  "GRPC_TLS_KEY_FILE",
  "GRPC_TLS_CA_FILE",
  "INTERNAL_TOKEN_PRIVATE_KEY",
  "INTERNAL_TOKEN_PUBLIC_KEYS",
  "OUTBOUND_ALLOW_PRIVATE",
  "RUNS_ROLE",
  "RUNS_LEASE_MS",
  "WORKER_CONCURRENCY",
  "LOG_LEVEL",
  "METRICS_PORT",
).required({
  DATABASE_URL: true,
  NATS_URL: true,
  INTERNAL_TOKEN_PRIVATE_KEY: true,
  INTERNAL_TOKEN_PUBLIC_KEYS: true,
});

/** The settings of a runs service that is a process of its own. */
export type RunsConfig = z.output<typeof settings>;

/** Reads the settings. Throws a ConfigError that names everything missing or wrong. */
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
