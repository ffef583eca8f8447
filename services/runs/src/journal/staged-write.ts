import type { Transaction } from "@workflow/db";

/**
 * What an execution writes beside its own results. It is written with them by the next checkpoint: under
 * the same fence and in the same transaction, or not at all.
 */
export interface StagedWrite {
  /** Called once more when a transaction was rolled back; it must not take locks on tasks. */
  write(transaction: Transaction): Promise<void>;
  /** Called after the commit; must not throw. */
  committed?(): void;
}
