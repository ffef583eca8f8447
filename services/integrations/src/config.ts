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
