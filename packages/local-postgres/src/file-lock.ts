import { writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { isNativeError } from "node:util/types";

/** A file that this process holds until it releases it or ends in any way. */
export interface FileLock {
  release(): void;
}

const SQLITE_BUSY = 5;
/** An unreferenced lock would be garbage-collected, and its file closed. */
const held = new Set<DatabaseSync>();

/**
 * Locks a file for this process; null at once when another process has the lock. The lock is the
 * kernel's, as SQLite sets it. It ends with the last thread of the process, even after SIGKILL and
 * before the process is reaped, and no child inherits it. The file is created when missing, stays empty
 * and must never be removed: a process with the removed file open would hold a lock that nobody else
 * sees.
 *
 * @param path a file that nothing else in this process opens: closing it there would end the lock
 * @throws Error when the file cannot be created or opened
 */
export function tryLockFile(path: string): FileLock | null {
  makePrivate(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // With its journal in memory, SQLite creates no second file.
    database.exec("pragma journal_mode = memory; begin exclusive");
  } catch (error) {
    database.close();
    if (isNativeError(error) && "errcode" in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
  held.add(database);
  return {
    release() {
      held.delete(database);
      database.close();
    },
  };
}

/** A user who may read the file could lock it. */
function makePrivate(path: string): void {
  try {
    writeFileSync(path, "", { flag: "wx", mode: 0o600 });
  } catch {
    // The file exists, or SQLite reports the fault in a moment.
  }
}
