import { ConfigError, parseConfig, pickSettings } from "@workflow/service";
import type { Environment } from "@workflow/service";
import type { z } from "zod";

const picked = pickSettings(
  "DATABASE_URL",
  "DATABASE_POOL_SIZE",
  "NATS_URL",
  "NATS_REPLICAS",
  "SECRETS_KEK",
  "PUBLIC_URL",
  "RUNS_GRPC_ADDR",
  "INTEGRATIONS_GRPC_ADDR",
  "WEBHOOKS_GRPC_ADDR",
  "WEBHOOKS_HTTP_ADDR",
  "STOP_DELAY_MS",
  "WEBHOOKS_HTTP_TLS",
  "DELIVERY_RETRY_DELAYS_MS",
  "WEBHOOK_RETENTION_DAYS",
  "WEBHOOK_REQUIRE_SIGNATURE",
  "NANGO_WEBHOOK_SECRET",
  "STRIPE_WEBHOOK_SECRET",
  "RESEND_WEBHOOK_SECRET",
  "AIRWALLEX_WEBHOOK_SECRET",
  "HUBSPOT_CLIENT_SECRET",
  "FINANCE_WEBHOOK_SECRET",
  "OUTBOUND_ALLOW_PRIVATE",
  "OUTBOUND_DNS_SERVERS",
  "OUTBOUND_NAT64_PREFIXES",
  "GRPC_REFLECTION",
  "GRPC_TLS_CERT_FILE",
  "GRPC_TLS_KEY_FILE",
  "GRPC_TLS_CA_FILE",
  "GRPC_ALLOW_PLAINTEXT",
  "INTERNAL_TOKEN_PRIVATE_KEY",
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
export type WebhooksSettings = z.output<typeof picked>;

export const settings = picked.required({
  DATABASE_URL: true,
  NATS_URL: true,
  SECRETS_KEK: true,
  INTERNAL_TOKEN_PRIVATE_KEY: true,
  INTERNAL_TOKEN_PUBLIC_KEYS: true,
});

/** The settings of a webhooks service that runs as a process of its own. */
export type WebhooksConfig = z.output<typeof settings>;

/**
 * Reads the settings.
 *
 * @throws ConfigError naming everything that is missing or wrong
 */
export function readConfig(env: Environment): WebhooksConfig {
  const config = parseConfig(settings, env);
  if (config.WEBHOOKS_HTTP_TLS && config.GRPC_TLS_CERT_FILE === undefined) {
    const message = "needs GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE";
    throw new ConfigError([{ setting: "WEBHOOKS_HTTP_TLS", message }]);
  }
  return config;
}
