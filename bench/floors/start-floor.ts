import type { Scope } from "@workflow/async";
import { startHelper } from "../child-process.ts";
import type { System } from "../system.ts";
import { floorReady } from "./floor.ts";
import type { Floor } from "./floor.ts";

/**
 * Starts a floor as a process of its own on the system's Postgres.
 * @param document the text that the floor reads, or its number of rows; a floor that writes needs none
 */
export async function startFloor(
  scope: Scope,
  system: System,
  file: "read-floor.ts" | "write-floor.ts" | "proxied-write-floor.ts" | "tables-floor.ts",
  document = "",
): Promise<Floor> {
  const helper = startHelper(scope, `floors/${file}`);
  const start = { databaseUrl: system.databaseUrl, document };
  return helper.ask(start, floorReady);
}
