import type { Transaction } from "@workflow/db";
import { requireWithinRoom } from "../domain/company-room.ts";
import { lockRoom, measureTables } from "../store/company-room.ts";

/**
 * Keeps a company's tables within their limits, with the change of this transaction included. No other transaction
 * can add a table until this one ends, so concurrent ones cannot exceed a limit together.
 * @throws AppError BAD_REQUEST
 */
export async function requireRoom(transaction: Transaction, companyId: string): Promise<void> {
  await lockRoom(transaction, companyId);
  // The count is a statement of its own, because it must not see a state older than the lock.
  requireWithinRoom(await measureTables(transaction, companyId));
}
