import { parseConfig, parseProviderSettings, serviceSettings } from "@workflow/service";
import type { Environment, ProviderSettings } from "@workflow/service";
import type { z } from "zod";
import { SETTINGS } from "./settings.ts";

const picked = serviceSettings(
  SETTINGS,
  "SECRETS_KEK",
  "OPENAI_MODEL",
  "ANTHROPIC_MODEL",
  "OUTBOUND_ALLOW_PRIVATE",
  "OUTBOUND_DNS_SERVERS",
  "OUTBOUND_NAT64_PREFIXES",
  "INTEGRATIONS_GRPC_ADDR",
  "GRPC_REFLECTION",
  "INTERNAL_TOKEN_PUBLIC_KEYS",
);

/**
 * The settings of the service wherever it runs. `npm start` supplies the required ones of `settings`
 * itself.
 */
export type IntegrationsSettings = z.output<typeof picked>;

export const settings = picked.required({
  DATABASE_URL: true,
  NATS_URL: true,
  SECRETS_KEK: true,
  INTERNAL_TOKEN_PUBLIC_KEYS: true,
});

/** The settings of an integrations service that runs as its own process. */
export type IntegrationsConfig = z.output<typeof settings> & {
  /** The settings of each provider, by its id. */
  providers: ReadonlyMap<string, ProviderSettings>;
};

/**
 * Reads the settings.
 *
 * @throws ConfigError with everything that is missing or wrong
 */
export function readConfig(env: Environment): IntegrationsConfig {
  return { ...parseConfig(settings, env), providers: parseProviderSettings(env) };
}
