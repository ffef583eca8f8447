import { parseConfig, pickSettings } from "@workflow/service";
import type { Environment } from "@workflow/service";
import type { z } from "zod";

const picked = pickSettings(
  "DATABASE_URL",
  "DATABASE_POOL_SIZE",
  "NATS_URL",
  "NATS_REPLICAS",
  "TABLE_BYTES_MAX",
  "TABLES_CACHE_MB",
  "TABLES_THREADS",
  "TABLES_GRPC_ADDR",
  "GRPC_REFLECTION",
  "GRPC_TLS_CERT_FILE",
  "GRPC_TLS_KEY_FILE",
  "GRPC_TLS_CA_FILE",
  "GRPC_ALLOW_PLAINTEXT",
  "INTERNAL_TOKEN_PUBLIC_KEYS",
  "LOG_LEVEL",
  "METRICS_HOST",
  "METRICS_PORT",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_TRACES_SAMPLER",
  "OTEL_TRACES_SAMPLER_ARG",
);

/** The settings of the service wherever it runs; `npm start` makes those itself that a process requires. */
export type TablesSettings = z.output<typeof picked>;

export const settings = picked.required({
  DATABASE_URL: true,
  NATS_URL: true,
  INTERNAL_TOKEN_PUBLIC_KEYS: true,
});

/** The settings of a tables service that runs as a process of its own. */
export type TablesConfig = z.output<typeof settings>;

/**
 * Reads the settings.
 *
 * @throws ConfigError naming everything missing or wrong
 */
export function readConfig(env: Environment): TablesConfig {
  return parseConfig(settings, env);
}
