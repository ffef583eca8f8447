import { ConfigError, parseConfig, serviceSettings } from "@workflow/service";
import type { Environment } from "@workflow/service";
import type { z } from "zod";
import { SETTINGS } from "./settings.ts";

const picked = serviceSettings(
  SETTINGS,
  "PUBLIC_URL",
  "STOP_DELAY_MS",
  "WORKFLOWS_GRPC_ADDR",
  "RUNS_GRPC_ADDR",
  "TABLES_GRPC_ADDR",
  "INTEGRATIONS_GRPC_ADDR",
  "WEBHOOKS_GRPC_ADDR",
  "WEBHOOKS_HTTP_ADDR",
  "WEBHOOKS_HTTP_TLS",
  "INTERNAL_TOKEN_PRIVATE_KEY",
);

/** The settings of the service wherever it runs. `npm start` supplies the required ones of `settings` itself. */
export type GatewaySettings = z.output<typeof picked>;

export const settings = picked.required({
  DATABASE_URL: true,
  NATS_URL: true,
  INTERNAL_TOKEN_PRIVATE_KEY: true,
});

/** The settings of a gateway that runs as its own process. */
export type GatewayConfig = z.output<typeof settings>;

/**
 * Reads the settings.
 *
 * @throws ConfigError with everything that is missing or wrong
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
