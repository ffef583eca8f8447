import type { Scope } from "@workflow/async";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import type { ConnectionKey } from "../domain/connection-key.ts";
import {
  deleteOldPauses,
  listPauses,
  pauseConnection,
  takeTurn,
} from "../store/connection-pauses.ts";
import type { PauseReport, PauseRow } from "../store/connection-pauses.ts";

/**
 * Pauses of connections whose provider limits calls. All calls of a paused connection wait, in all
 * replicas, and resume one after the other. The state is in Postgres; a replica queries it only for
 * paused connections.
 */
export interface Pauses {
  /**
   * The time that a call has to wait, in milliseconds; null when it need not.
   *
   * @param hasTurn whether the caller's turn has come; then only a new pause delays the call
   */
  waitFor(key: ConnectionKey, hasTurn: boolean): Promise<number | null>;
  /**
   * Pauses a connection.
   *
   * @returns the caller's own turn, in milliseconds from now; null when the connection has ended
   */
  pause(report: PauseReport): Promise<number | null>;
}

/** Short enough for all replicas to know a pause within a second, the query's time included. */
const POLL_EVERY_MS = 400;
const PURGE_EVERY_MS = 60_000;
/** The limit of known pauses. Beyond it, a company's pauses that end first are ignored. */
const KNOWN_MAX = { limit: 20_000, perCompany: 1_000 } as const;
const PURGED_MAX = 1_000;

/** The end of the pause, by this process' clock. */
interface KnownPause {
  pausedUntil: number;
  busyUntil: number;
}

/** Follows the paused connections until the scope closes. */
export function startPauses(database: Database, logger: Logger, scope: Scope): Pauses {
  let known = new Map<string, KnownPause>();
  let purgedAt = performance.now();
  /** Pauses that were learned while a list was read are newer than the list. */
  let learned = new Map<string, KnownPause>();

  const note = (row: PauseRow): void => {
    const pause = toKnown(row);
    known.set(row.connectionId, pause);
    learned.set(row.connectionId, pause);
  };

  const look = async (): Promise<void> => {
    learned = new Map();
    const rows = await listPauses(database, KNOWN_MAX);
    known = new Map([
      ...rows.map((row): [string, KnownPause] => [row.connectionId, toKnown(row)]),
      ...learned,
    ]);
    if (performance.now() - purgedAt < PURGE_EVERY_MS) return;
    purgedAt = performance.now();
    while ((await deleteOldPauses(database, PURGED_MAX)) === PURGED_MAX);
  };

  scope.loop({
    name: "connection-pauses",
    intervalMs: POLL_EVERY_MS,
    logger,
    run: look,
  });

  return {
    async waitFor(key, hasTurn) {
      const pause = known.get(key.connectionId);
      const now = performance.now();
      if (pause === undefined || pause.busyUntil <= now) return null;
      if (hasTurn && pause.pausedUntil <= now) return null;
      const row = await takeTurn(database, key);
      if (row === null) return null;
      note(row);
      return Math.max(1, Math.ceil(row.waitMs));
    },
    async pause(report) {
      const row = await pauseConnection(database, report);
      if (row === null) return null;
      note(row);
      return Math.max(1, Math.ceil(row.waitMs));
    },
  };
}

function toKnown({ pausedMs, busyMs }: PauseRow): KnownPause {
  const now = performance.now();
  return { pausedUntil: now + pausedMs, busyUntil: now + busyMs };
}
