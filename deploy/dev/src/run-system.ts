import { setTimeout as delay } from "node:timers/promises";
import { ConfigError } from "@workflow/service";
import type { System } from "./foundation.ts";
import type { Settings } from "./settings.ts";
import { explain, StartError } from "./start-error.ts";
import { onStopRequest, whenAborted } from "./stop-request.ts";
import { firstCompanyText, readyText } from "./welcome.ts";

/** How long something forgotten may keep the process alive after everything was stopped. */
const LINGER_MS = 2_000;

/** A running system with its settings. */
export interface StartedSystem {
  system: System;
  settings: Settings;
}

/**
 * The life of a command that runs a system: it starts the system, prints its address, and stops it on request. The
 * exit code is 0 after an orderly stop, and 1 when the system could not start or go on.
 * @param start stops early when its signal is aborted
 */
export async function runSystem(
  start: (signal: AbortSignal) => Promise<StartedSystem>,
): Promise<void> {
  // A closed terminal must not prevent an orderly stop.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  process.exitCode = await run(start, onStopRequest());
  void delay(LINGER_MS, undefined, { ref: false }).then(() => process.exit());
}

async function run(
  start: (signal: AbortSignal) => Promise<StartedSystem>,
  stopRequest: AbortSignal,
): Promise<number> {
  try {
    const { system, settings } = await start(stopRequest);
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
    // An interrupted start was undone, as requested.
    if (stopRequest.aborted && !(error instanceof StartError)) return 0;
    process.stderr.write(`${describe(error)}\n`);
    return 1;
  }
}

/** A fault of this program is shown with its stack. Other errors are worded for people. */
function describe(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartError) return error.message;
  if (error instanceof TypeError || error instanceof RangeError) return error.stack ?? "";
  return explain(error);
}
