import type { Reading } from "@workflow/db";

/** A database as questions read it: by statements, and by transactions that see one state of it. */
export interface ReadingDatabase extends Reading {
  transaction<Result>(work: (transaction: Reading) => Promise<Result>): Promise<Result>;
}

/** Somebody for whom statements are made; the signal is aborted when nobody waits for them any more. */
export interface ReadingCaller {
  readonly signal: AbortSignal;
}

/** Gives databases by company. */
export interface ReadingConnections {
  /** Of a caller who has gone no statement is made that had to wait until then. */
  of(companyId: string, caller?: ReadingCaller): ReadingDatabase;
}
