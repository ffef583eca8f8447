import { setTimeout as delay } from "node:timers/promises";
import { ConfigError } from "@workflow/service";
import type { System } from "./foundation.ts";
import type { Settings } from "./settings.ts";
import { explain, StartError } from "./start-error.ts";
import { onStopRequest, whenAborted } from "./stop-request.ts";
import { firstCompanyText, readyText } from "./welcome.ts";

/** After everything was stopped, how long something forgotten may keep the process alive. */
const LINGER_MS = 2_000;

/** A system that runs, and the settings that it runs with. */
export interface StartedSystem {
  system: System;
  settings: Settings;
}

/**
 * The life of a command that runs a system: starts it, says where it is, stops it when that is asked for.
 * Sets the exit code: 0 after an orderly stop, 1 when the system could not start or go on.
 *
 * @param start gives up when its signal is aborted
 */
export async function runSystem(
  start: (signal: AbortSignal) => Promise<StartedSystem>,
): Promise<void> {
  // A terminal that was closed must not stand in the way of an orderly stop.
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
