import type { Scope } from "@workflow/async";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import {
  abandonAttempts,
  abandonConnections,
  deleteEndedAttempts,
} from "../store/authorization-attempts.ts";
import { ATTEMPT_LIFE_MS } from "./prepare-attempt.ts";

const SWEEP_EVERY_MS = 60_000;
/** The number of rows that one statement changes. */
const BATCH = 500;
/** The time for which ended attempts are kept, so that a late person learns the outcome. */
const KEPT_MS = 7 * 24 * 60 * 60_000;

/** Abandons attempts that were never completed, of all companies, and deletes those that ended long ago. */
export function startAttemptSweep(database: Database, logger: Logger, scope: Scope): void {
  scope.loop({
    name: "authorization-attempts",
    intervalMs: SWEEP_EVERY_MS,
    logger,
    run: async () => {
      const counts = [
        await abandonAttempts(database, BATCH),
        await abandonConnections(database, { limit: BATCH, olderThanMs: ATTEMPT_LIFE_MS }),
        await deleteEndedAttempts(database, { limit: BATCH, olderThanMs: KEPT_MS }),
      ];
      return counts.some((count) => count === BATCH) ? "again" : undefined;
    },
  });
}
