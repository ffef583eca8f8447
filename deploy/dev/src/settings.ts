import { readSigningKey } from "@workflow/rpc";
import { ConfigError, parseConfig, parseProviderSettings, SETTINGS } from "@workflow/service";
import type { ConfigProblem, Environment } from "@workflow/service";
import { z } from "zod";

const schema = z.object(SETTINGS);

/** Everything that `npm start` can be told by environment (D53). */
export type Settings = z.output<typeof schema>;

/**
 * Reads all settings, also those of parts that are started by others. Throws a ConfigError that
 * names everything wrong at once.
 */
export function readSettings(env: Environment): Settings {
  const problems: ConfigProblem[] = [];
  const settings = collect(problems, () => parseConfig(schema, env));
  collect(problems, () => parseProviderSettings(env));
  if (settings !== undefined) problems.push(...problemsOf(settings));
  if (settings === undefined || problems.length > 0) throw new ConfigError(problems);
  return settings;
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

function problemsOf(settings: Settings): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (settings.TASK_RUNTIME !== "postgres") {
    const message = `"${settings.TASK_RUNTIME}" is not available in this version; use "postgres"`;
    problems.push({ setting: "TASK_RUNTIME", message });
  }
  const privateKey = settings.INTERNAL_TOKEN_PRIVATE_KEY;
  if (privateKey !== undefined && !isSigningKey(privateKey)) {
    const message = "the value (not shown) is not a readable Ed25519 private key";
    problems.push({ setting: "INTERNAL_TOKEN_PRIVATE_KEY", message });
  }
  return problems;
}

function isSigningKey(pem: string): boolean {
  try {
    readSigningKey(pem);
    return true;
  } catch {
    return false;
  }
}
