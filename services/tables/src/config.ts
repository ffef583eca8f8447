import { parseConfig, serviceSettings } from "@workflow/service";
import type { Environment } from "@workflow/service";
import type { z } from "zod";
import { SETTINGS } from "./settings.ts";

const picked = serviceSettings(
  SETTINGS,
  "TABLES_GRPC_ADDR",
  "GRPC_REFLECTION",
  "INTERNAL_TOKEN_PUBLIC_KEYS",
);

/** The settings of the service wherever it runs; `npm start` makes those itself that a process requires. */
export type TablesSettings = z.output<typeof picked>;

export const settings = picked.required({
  DATABASE_URL: true,
  NATS_URL: true,
  INTERNAL_TOKEN_PUBLIC_KEYS: true,
});

/** The settings of a tables service that runs as a process of its own. */
export type TablesConfig = z.output<typeof settings>;

/**
 * Reads the settings.
 *
 * @throws ConfigError naming everything missing or wrong
 */
export function readConfig(env: Environment): TablesConfig {
  return parseConfig(settings, env);
}
