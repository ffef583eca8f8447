import { parseConfig, serviceSettings } from "@workflow/service";
import type { Environment } from "@workflow/service";
import type { z } from "zod";

const picked = serviceSettings(
  {},
  "WORKFLOWS_GRPC_ADDR",
  "RUNS_GRPC_ADDR",
  "GRPC_REFLECTION",
  "INTERNAL_TOKEN_PRIVATE_KEY",
  "INTERNAL_TOKEN_PUBLIC_KEYS",
  "OPENAI_MODEL",
  "ANTHROPIC_MODEL",
);

/** The settings of the service wherever it runs; `npm start` makes those itself that a process requires. */
export type WorkflowsSettings = z.output<typeof picked>;

export const settings = picked.required({
  DATABASE_URL: true,
  NATS_URL: true,
  INTERNAL_TOKEN_PRIVATE_KEY: true,
  INTERNAL_TOKEN_PUBLIC_KEYS: true,
});

/** The settings of a workflows service that runs as its own process. */
export type WorkflowsConfig = z.output<typeof settings>;

/**
 * Reads the settings.
 *
 * @throws ConfigError with everything that is missing or wrong
 */
export function readConfig(env: Environment): WorkflowsConfig {
  return parseConfig(settings, env);
}
