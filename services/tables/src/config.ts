import type { RpcTlsFiles } from "@workflow/rpc";
import { parseConfig, pickSettings } from "@workflow/service";
import type { Environment } from "@workflow/service";
import type { z } from "zod";

export const settings = pickSettings(
  "DATABASE_URL",
  "DATABASE_POOL_SIZE",
  "NATS_URL",
  "NATS_REPLICAS",
  "TABLE_BYTES_MAX",
  "TABLES_COMPANY_BYTES_MAX",
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
).required({ DATABASE_URL: true, NATS_URL: true, INTERNAL_TOKEN_PUBLIC_KEYS: true });

/** The settings of a tables service that runs as a process of its own. */
export type TablesConfig = z.output<typeof settings> & { tlsFiles: RpcTlsFiles };

/** Reads the settings. Throws a ConfigError that names everything missing or wrong. */
export function readConfig(env: Environment): TablesConfig {
  const config = parseConfig(settings, env);
  const tlsFiles = {
    certFile: config.GRPC_TLS_CERT_FILE,
    keyFile: config.GRPC_TLS_KEY_FILE,
    caFile: config.GRPC_TLS_CA_FILE,
    allowPlaintext: config.GRPC_ALLOW_PLAINTEXT,
  };
  return { ...config, tlsFiles };
}
