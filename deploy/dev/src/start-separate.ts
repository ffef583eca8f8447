import { parseArgs } from "node:util";
import { ConfigError, explainSettingsWithoutEffect } from "@workflow/service";
import { runSystem } from "./run-system.ts";
import { explainOwnPlaces, startSeparateSystem } from "./separate/system.ts";
import { SETTINGS } from "./setting-catalogue.ts";
import { readSettings } from "./settings.ts";
import { StartError } from "./start-error.ts";

await runSystem(async (signal) => {
  const { tls, pools } = readOptions();
  const environment = process.env;
  const settings = readSettings(environment);
  const warnings = [...explainSettingsWithoutEffect(environment), ...explainOwnPlaces(environment)];
  const showError = (text: string): void => void process.stderr.write(`${text}\n`);
  for (const line of warnings) showError(line);
  const options = { warnings, signal, showError, environment, tls, pools };
  return { settings, system: await startSeparateSystem(settings, options) };
});

/** Reads whether TLS is wanted, and which worker pools get a process of their own. */
function readOptions(): { tls: boolean; pools: readonly string[] } {
  const { tls, pool } = parseOptions();
  const pools = [...new Set(pool)];
  const wrong = pools.filter((name) => !SETTINGS.RUNS_POOL.safeParse(name).success);
  if (wrong.length === 0) return { tls, pools };
  const message = "is no name of a worker pool: lower-case letters, digits and dashes, 40 at most";
  throw new ConfigError(wrong.map((name) => ({ setting: `--pool ${name}`, message })));
}

function parseOptions(): { tls: boolean; pool: string[] } {
  try {
    const { values } = parseArgs({
      options: {
        tls: { type: "boolean", default: false },
        pool: { type: "string", multiple: true, default: [] },
      },
    });
    return values;
  } catch (cause) {
    const text = "npm run start:separate [-- --tls] [--pool NAME …]: that is all it takes.";
    throw new StartError(text, { cause });
  }
}
