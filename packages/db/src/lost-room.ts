import type { Interceptor } from "slonik";
import { sqlStateOf } from "./errors.ts";

const DISK_FULL = "53100";

/**
 * A failed write says that the disk is full for so long, in milliseconds: a service that has work writes more
 * often than this.
 */
const TOLD_FOR_MS = 30_000;

/** When a statement last found no room, by the address of its database: a process has one or two. */
const failedAt = new Map<string, number>();

/**
 * Remembers statements that found the disk of Postgres full. Only a write can find that, so readiness is told by the
 * writes that are made anyway, and makes none.
 */
export function createRoomRecorder(connectionUri: string): Interceptor {
  return {
    name: "room-recorder",
    queryExecutionError: (_context, _query, error) => {
      if (sqlStateOf(error) === DISK_FULL) failedAt.set(connectionUri, performance.now());
      return null;
    },
  };
}

/** Whether a statement of this process found the disk of a database full, in the last half minute. */
export function lacksRoom(connectionUri: string): boolean {
  const at = failedAt.get(connectionUri);
  if (at === undefined) return false;
  if (performance.now() - at < TOLD_FOR_MS) return true;
  failedAt.delete(connectionUri);
  return false;
}
