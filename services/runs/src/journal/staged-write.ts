import type { Transaction } from "@workflow/db";

/**
 * What an execution writes beside its own results. The next checkpoint writes it with them, under the
 * same fence and in the same transaction, or not at all.
 */
export interface StagedWrite {
  /** Called again after a rollback. It must not take locks on tasks. */
  write(transaction: Transaction): Promise<void>;
  /** Called after the commit; must not throw. */
  committed?(): void;
}
