import { runSystem } from "./run-system.ts";
import { explainIgnoredSettings, readSettings } from "./settings.ts";
import { startSystem } from "./system.ts";

await runSystem(async (signal) => {
  const settings = readSettings(process.env);
  const warnings = explainIgnoredSettings(process.env);
  for (const line of warnings) process.stderr.write(`${line}\n`);
  const showError = (text: string): void => void process.stderr.write(`${text}\n`);
  return { settings, system: await startSystem(settings, { warnings, signal, showError }) };
});
