import {
  ConfigError,
  explainSettingsWithoutEffect,
  parseConfig,
  parseProviderSettings,
} from "@workflow/service";
import type { ConfigProblem, Environment, ProviderSettings } from "@workflow/service";
import { z } from "zod";
import { SETTINGS } from "./setting-catalogue.ts";

const schema = z.object(SETTINGS);

/** Everything that the environment can tell `npm start` (D53). */
export type Settings = z.output<typeof schema> & {
  /** The settings of each provider, by its id. */
  providers: ReadonlyMap<string, ProviderSettings>;
};

/**
 * Reads all settings, also those of separately started parts.
 * @throws ConfigError that names all faults at once
 */
export function readSettings(env: Environment): Settings {
  const problems: ConfigProblem[] = [];
  const settings = collect(problems, () => parseConfig(schema, env));
  const providers = collect(problems, () => parseProviderSettings(env));
  if (settings !== undefined) problems.push(...problemsOf(settings));
  if (settings === undefined || providers === undefined || problems.length > 0) {
    throw new ConfigError(problems);
  }
  return { ...settings, providers };
}

/** A line for each setting that is given but has no effect here. */
export function explainIgnoredSettings(env: Environment): string[] {
  const lines = explainSettingsWithoutEffect(env);
  const role = (env["RUNS_ROLE"] ?? "").trim();
  if (role !== "" && role !== "all") {
    lines.push("RUNS_ROLE is set, but npm start always runs both halves of the runs service.");
  }
  return lines;
}

function collect<Result>(problems: ConfigProblem[], read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

function problemsOf(settings: z.output<typeof schema>): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (settings.TASK_RUNTIME !== "postgres") {
    const message = `"${settings.TASK_RUNTIME}" is not available in this version; use "postgres"`;
    problems.push({ setting: "TASK_RUNTIME", message });
  }
  if (settings.WEBHOOKS_HTTP_TLS && settings.GRPC_TLS_CERT_FILE === undefined) {
    const message = "needs GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE";
    problems.push({ setting: "WEBHOOKS_HTTP_TLS", message });
  }
  return problems;
}
