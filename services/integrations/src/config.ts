import { parseConfig, parseProviderSettings, pickSettings } from "@workflow/service";
import type { Environment, ProviderSettings } from "@workflow/service";
import type { z } from "zod";

const picked = pickSettings(
  "DATABASE_URL",
  "DATABASE_POOL_SIZE",
  "NATS_URL",
  "NATS_REPLICAS",
  "SECRETS_KEK",
  "SMTP_URL",
  "EMAIL_FROM",
  "EMAIL_FROM_DOMAINS",
  "EMAIL_PER_DAY",
  "AGENT_TOKENS_PER_DAY",
  "AGENT_EXECUTION_RETENTION_DAYS",
  "NANGO_BASE_URL",
  "NANGO_SECRET_KEY",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "OPENAI_API",
  "OPENAI_MODEL",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "ANTHROPIC_MODEL",
  "AGENT_TIMEOUT_MS",
  "OUTBOUND_ALLOW_PRIVATE",
  "OUTBOUND_DNS_SERVERS",
  "OUTBOUND_NAT64_PREFIXES",
  "INTEGRATIONS_GRPC_ADDR",
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
export type IntegrationsSettings = z.output<typeof picked>;

export const settings = picked.required({
  DATABASE_URL: true,
  NATS_URL: true,
  SECRETS_KEK: true,
  INTERNAL_TOKEN_PUBLIC_KEYS: true,
});

/** The settings of an integrations service that runs as a process of its own. */
export type IntegrationsConfig = z.output<typeof settings> & {
  /** What is set for each provider, by its id. */
  providers: ReadonlyMap<string, ProviderSettings>;
};

/**
 * Reads the settings.
 *
 * @throws ConfigError naming everything that is missing or wrong
 */
export function readConfig(env: Environment): IntegrationsConfig {
  return { ...parseConfig(settings, env), providers: parseProviderSettings(env) };
}
