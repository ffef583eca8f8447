import { ConfigError, parseConfig, serviceSettings } from "@workflow/service";
import type { Environment } from "@workflow/service";
import type { z } from "zod";
import { SETTINGS } from "./settings.ts";

const picked = serviceSettings(
  SETTINGS,
  "SECRETS_KEK",
  "PUBLIC_URL",
  "RUNS_GRPC_ADDR",
  "INTEGRATIONS_GRPC_ADDR",
  "WEBHOOKS_GRPC_ADDR",
  "WEBHOOKS_HTTP_ADDR",
  "STOP_DELAY_MS",
  "WEBHOOKS_HTTP_TLS",
  "OUTBOUND_ALLOW_PRIVATE",
  "OUTBOUND_DNS_SERVERS",
  "OUTBOUND_NAT64_PREFIXES",
  "GRPC_REFLECTION",
  "INTERNAL_TOKEN_PRIVATE_KEY",
  "INTERNAL_TOKEN_PUBLIC_KEYS",
);

/**
 * The settings of the service wherever it runs. `npm start` supplies the required ones of `settings`
 * itself.
 */
export type WebhooksSettings = z.output<typeof picked>;

export const settings = picked.required({
  DATABASE_URL: true,
  NATS_URL: true,
  SECRETS_KEK: true,
  INTERNAL_TOKEN_PRIVATE_KEY: true,
  INTERNAL_TOKEN_PUBLIC_KEYS: true,
});

/** The settings of a webhooks service that runs as its own process. */
export type WebhooksConfig = z.output<typeof settings>;

/**
 * Reads the settings.
 *
 * @throws ConfigError with everything that is missing or wrong
 */
export function readConfig(env: Environment): WebhooksConfig {
  const config = parseConfig(settings, env);
  if (config.WEBHOOKS_HTTP_TLS && config.GRPC_TLS_CERT_FILE === undefined) {
    const message = "needs GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE";
    throw new ConfigError([{ setting: "WEBHOOKS_HTTP_TLS", message }]);
  }
  return config;
}
