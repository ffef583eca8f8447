import type { Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Session } from "../auth/caller.ts";
import { SCOPES_BY_ROLE } from "../auth/roles.ts";
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
 * Nobody gives a role with more scopes than their own (D12).
 *
 * @throws AppError FORBIDDEN naming the scopes that are missing
 */
export function requireScopesOf(role: Role, scopes: readonly string[]): void {
  const missing = SCOPES_BY_ROLE[role].filter((scope) => !scopes.includes(scope));
  if (missing.length === 0) return;
  throw new AppError(
    "FORBIDDEN",
    `The role ${role} has scopes that the caller lacks: ${missing.join(", ")}.`,
  );
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
