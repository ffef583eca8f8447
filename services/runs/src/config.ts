import { ConfigError, parseConfig, serviceSettings } from "@workflow/service";
import type { Environment } from "@workflow/service";
import type { z } from "zod";
import { SETTINGS } from "./settings.ts";

const picked = serviceSettings(
  SETTINGS,
  "RUNS_GRPC_ADDR",
  "TABLES_GRPC_ADDR",
  "INTEGRATIONS_GRPC_ADDR",
  "GRPC_REFLECTION",
  "INTERNAL_TOKEN_PRIVATE_KEY",
  "INTERNAL_TOKEN_PUBLIC_KEYS",
  "OUTBOUND_ALLOW_PRIVATE",
  "OUTBOUND_DNS_SERVERS",
  "OUTBOUND_NAT64_PREFIXES",
);

/** The settings of the service wherever it runs; `npm start` makes those itself that a process requires. */
export type RunsSettings = z.output<typeof picked>;

export const settings = picked.required({
  DATABASE_URL: true,
  NATS_URL: true,
  INTERNAL_TOKEN_PRIVATE_KEY: true,
  INTERNAL_TOKEN_PUBLIC_KEYS: true,
});

/** The settings of a runs service that is a process of its own. */
export type RunsConfig = z.output<typeof settings>;

/**
 * Reads the settings.
 *
 * @throws ConfigError naming everything that is missing or wrong
 */
export function readConfig(env: Environment): RunsConfig {
  const config = parseConfig(settings, env);
  assertTaskRuntime(config.TASK_RUNTIME);
  return config;
}

/** Refuses a task runtime that this version does not have. */
function assertTaskRuntime(name: RunsConfig["TASK_RUNTIME"]): void {
  if (name === "postgres") return;
  const message = `"${name}" is not available in this version; use "postgres"`;
  throw new ConfigError([{ setting: "TASK_RUNTIME", message }]);
}
