import type { Transaction } from "@workflow/db";
import { requireWithinRoom } from "../domain/company-room.ts";
import { lockRoom, measureTables } from "../store/company-room.ts";

/**
 * Keeps a company's tables within their limits, the change of this transaction included. Nobody else makes
 * one until it ends, so of several at once none is beyond a limit. Throws BAD_REQUEST.
 */
export async function requireRoom(transaction: Transaction, companyId: string): Promise<void> {
  await lockRoom(transaction, companyId);
  // A statement of its own: what it counts must not be older than the lock.
  requireWithinRoom(await measureTables(transaction, companyId));
}
