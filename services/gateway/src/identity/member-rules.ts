import type { Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Session } from "../auth/caller.ts";
import type { Role } from "../auth/roles.ts";
import { countOwners } from "../store/members.ts";

/**
 * Owners are made, changed and removed by owners only. An API key, whoever made it, acts as an admin.
 *
 * @throws AppError FORBIDDEN
 */
export function requireRightOver(session: Session | null, role: Role): void {
  if (role !== "owner" || session?.role === "owner") return;
  throw new AppError("FORBIDDEN", "Only a signed-in owner can do this to an owner.");
}

/**
 * Refuses to leave a company without an owner. Only meaningful while the members are locked.
 *
 * @throws AppError CONFLICT
 */
export async function requireAnotherOwner(
  transaction: Transaction,
  companyId: string,
): Promise<void> {
  if ((await countOwners(transaction, companyId)) > 1) return;
  throw new AppError("CONFLICT", "The company would have no owner left.");
}
