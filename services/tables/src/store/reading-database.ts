import type { Reading } from "@workflow/db";

/** A database as questions read it: by statements, and by transactions that see one state of it. */
export interface ReadingDatabase extends Reading {
  transaction<Result>(work: (transaction: Reading) => Promise<Result>): Promise<Result>;
}

/** Gives databases by company. */
export interface ReadingConnections {
  of(companyId: string): ReadingDatabase;
}
