import type { Database } from "@workflow/db";
import type { Registry } from "prom-client";
import type { EventsLogger } from "./logger.ts";

export interface DeadLetterOptions {
  /** Its role must be able to use the table `dead_letters`. */
  database: Database;
  /** The Postgres schema of the table. It is a name written in code, never input. */
  schema: string;
  logger: EventsLogger;
  /** The registry for the number of dead letters; without one it is not measured. */
  metricsRegistry?: Registry | undefined;
  /** After so many failures an event becomes a dead letter and is not delivered again. Default 20. */
  tries?: number;
  /** How often to look for letters that are to be handled again, in milliseconds. Default 5 000. */
  pollEveryMs?: number;
}
