import { setTimeout as delay } from "node:timers/promises";
import { ConfigError } from "@workflow/service";
import { explainIgnoredSettings, readSettings } from "./settings.ts";
import { explain, StartError } from "./start-error.ts";
import { onStopRequest, whenAborted } from "./stop-request.ts";
import { startSystem } from "./system.ts";
import { firstCompanyText, readyText } from "./welcome.ts";

/** After everything was stopped, how long something forgotten may keep the process alive. */
const LINGER_MS = 2_000;

// A terminal that was closed must not stand in the way of an orderly stop.
process.stdout.on("error", () => {});
process.stderr.on("error", () => {});

process.exitCode = await run(onStopRequest());
void delay(LINGER_MS, undefined, { ref: false }).then(() => process.exit());

/** Runs the system until it is asked to stop, and returns the exit code. */
async function run(stopRequest: AbortSignal): Promise<number> {
  try {
    const settings = readSettings(process.env);
    const warnings = explainIgnoredSettings(process.env);
    for (const line of warnings) process.stderr.write(`${line}\n`);
    const system = await startSystem(settings, {
      warnings,
      signal: stopRequest,
      showError: (text) => process.stderr.write(`${text}\n`),
    });
    const { firstCompany, logFile } = system;
    if (firstCompany !== null) process.stdout.write(firstCompanyText(firstCompany, settings));
    const apiKey = firstCompany?.apiKey ?? null;
    process.stdout.write(readyText({ port: settings.PORT, apiKey, logFile }));
    try {
      await Promise.race([whenAborted(stopRequest), system.lost]);
      process.stdout.write("\nStopping …\n");
    } finally {
      await system.stop();
    }
    return 0;
  } catch (error) {
    // A start that was interrupted has been undone; that is what was asked for.
    if (stopRequest.aborted && !(error instanceof StartError)) return 0;
    process.stderr.write(`${describe(error)}\n`);
    return 1;
  }
}

/** Faults of this program are told with their origin; everything else is worded for people. */
function describe(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartError) return error.message;
  if (error instanceof TypeError || error instanceof RangeError) return error.stack ?? "";
  return explain(error);
}
