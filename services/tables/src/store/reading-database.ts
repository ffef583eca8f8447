import type { Reading } from "@workflow/db";

/** A database for questions: it runs statements, and transactions that see one state. */
export interface ReadingDatabase extends Reading {
  transaction<Result>(work: (transaction: Reading) => Promise<Result>): Promise<Result>;
}

/**
 * The caller for whom statements run. The signal is aborted when nobody waits for them any more.
 */
export interface ReadingCaller {
  readonly signal: AbortSignal;
}

/** Gives databases by company. */
export interface ReadingConnections {
  /**
   * The database of a company. A statement that had to wait does not run when its caller has gone meanwhile.
   */
  of(companyId: string, caller?: ReadingCaller): ReadingDatabase;
}
