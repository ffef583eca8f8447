import type { Database } from "@workflow/db";
import type { Registry } from "prom-client";
import type { EventsLogger } from "./logger.ts";

export interface DeadLetterOptions {
  /** Must see the table `dead_letters` through its role. */
  database: Database;
  /** The Postgres schema that holds the table; a name written in code, never input. */
  schema: string;
  logger: EventsLogger;
  /** Where the number of dead letters is shown; without one it is not measured. */
  metricsRegistry?: Registry | undefined;
  /** Failures of one event until it is kept and not brought again. Default 20. */
  tries?: number;
  /** How often to look for letters that are to be handled once more. Default 5 000. */
  lookEveryMs?: number;
}
