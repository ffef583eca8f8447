import { parseArgs } from "node:util";
import { explainSettingsWithoutEffect } from "@workflow/service";
import { runSystem } from "./run-system.ts";
import { explainOwnPlaces, startSeparateSystem } from "./separate/system.ts";
import { readSettings } from "./settings.ts";
import { StartError } from "./start-error.ts";

await runSystem(async (signal) => {
  const tls = readOptions();
  const environment = process.env;
  const settings = readSettings(environment);
  const warnings = [...explainSettingsWithoutEffect(environment), ...explainOwnPlaces(environment)];
  const showError = (text: string): void => void process.stderr.write(`${text}\n`);
  for (const line of warnings) showError(line);
  const options = { warnings, signal, showError, environment, tls };
  return { settings, system: await startSeparateSystem(settings, options) };
});

/** Whether TLS is asked for. */
function readOptions(): boolean {
  try {
    const { values } = parseArgs({ options: { tls: { type: "boolean", default: false } } });
    return values.tls;
  } catch (cause) {
    throw new StartError("npm run start:separate [-- --tls]: that is all it takes.", { cause });
  }
}
