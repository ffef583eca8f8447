import { ConfigError, parseConfig, pickSettings } from "@workflow/service";
import type { Environment } from "@workflow/service";
import type { z } from "zod";

export const settings = pickSettings(
  "PORT",
  "PUBLIC_URL",
  "TRUSTED_PROXIES",
  "CORS_ORIGINS",
  "CONNECTIONS_MAX",
  "COMPANY_CONNECTIONS_MAX",
  "STOP_DELAY_MS",
  "AUDIT_RETENTION_DAYS",
  "DATABASE_URL",
  "DATABASE_POOL_SIZE",
  "NATS_URL",
  "NATS_REPLICAS",
  "WORKFLOWS_GRPC_ADDR",
  "RUNS_GRPC_ADDR",
  "TABLES_GRPC_ADDR",
  "INTEGRATIONS_GRPC_ADDR",
  "WEBHOOKS_GRPC_ADDR",
  "WEBHOOKS_HTTP_ADDR",
  "WEBHOOKS_HTTP_TLS",
  "RATE_LIMIT_READ",
  "RATE_LIMIT_WRITE",
  "RATE_LIMIT_EXECUTE",
  "RATE_LIMIT_COMPANY_FACTOR",
  "RATE_LIMIT_INBOUND",
  "GRPC_TLS_CERT_FILE",
  "GRPC_TLS_KEY_FILE",
  "GRPC_TLS_CA_FILE",
  "GRPC_ALLOW_PLAINTEXT",
  "INTERNAL_TOKEN_PRIVATE_KEY",
  "LOG_LEVEL",
  "METRICS_HOST",
  "METRICS_PORT",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_TRACES_SAMPLER",
  "OTEL_TRACES_SAMPLER_ARG",
).required({ DATABASE_URL: true, NATS_URL: true, INTERNAL_TOKEN_PRIVATE_KEY: true });

/** The settings of a gateway that runs as a process of its own. */
export type GatewayConfig = z.output<typeof settings>;

/**
 * Reads the settings.
 *
 * @throws ConfigError naming everything missing or wrong
 */
export function readConfig(env: Environment): GatewayConfig {
  const config = parseConfig(settings, env);
  const { GRPC_TLS_CERT_FILE: certFile, GRPC_TLS_CA_FILE: caFile } = config;
  if (config.WEBHOOKS_HTTP_TLS && certFile === undefined && caFile === undefined) {
    const message = "needs GRPC_TLS_CA_FILE, or GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE";
    throw new ConfigError([{ setting: "WEBHOOKS_HTTP_TLS", message }]);
  }
  return config;
}
