import { parseConfig, pickSettings } from "@workflow/service";
import type { Environment } from "@workflow/service";
import type { z } from "zod";

const schema = pickSettings(
  "DATA_DIR",
  "DATABASE_URL",
  "INTERNAL_TOKEN_PRIVATE_KEY",
  "NATS_URL",
  "NATS_REPLICAS",
  "SECRETS_KEK",
);

/** The settings of an admin command, which select the system. */
export type AdminSettings = z.output<typeof schema>;

/**
 * Reads the settings.
 * @throws ConfigError that names the faults
 */
export function readAdminSettings(env: Environment): AdminSettings {
  return parseConfig(schema, env);
}
