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

/** Which system an admin command is about. */
export type AdminSettings = z.output<typeof schema>;

/** Reads the settings. Throws a ConfigError that names what is wrong. */
export function readAdminSettings(env: Environment): AdminSettings {
  return parseConfig(schema, env);
}
