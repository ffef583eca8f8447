import type { Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { SCOPES_BY_ROLE } from "../domain/roles.ts";
import type { Role } from "../domain/roles.ts";
import { countMembers, countOwners } from "../store/members.ts";
import type { Access } from "./current-access.ts";

/** More members than any company needs; the limit bounds the list of them. */
const MEMBERS_MAX = 10_000;

/**
 * Only owners create, change and remove owners. An API key acts as an admin, whoever created it.
 *
 * @throws AppError FORBIDDEN
 */
export function requireRightOver(access: Access, role: Role): void {
  if (role !== "owner" || access.role === "owner") return;
  throw new AppError("FORBIDDEN", "Only a signed-in owner can do this to an owner.");
}

/**
 * Nobody gives a role with more scopes than their own (D12).
 *
 * @throws AppError FORBIDDEN naming the scopes that are missing
 */
export function requireScopesOf({ scopes }: Access, role: Role): void {
  const missing = SCOPES_BY_ROLE[role].filter((scope) => !scopes.includes(scope));
  if (missing.length === 0) return;
  throw new AppError(
    "FORBIDDEN",
    `The role ${role} has scopes that the caller lacks: ${missing.join(", ")}.`,
  );
}

/**
 * Refuses to leave a company without an owner. Call it while the members are locked.
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

/**
 * Refuses a member beyond the company's limit. Call it while the members are locked.
 *
 * @throws AppError BAD_REQUEST
 */
export async function requireRoom(transaction: Transaction, companyId: string): Promise<void> {
  if ((await countMembers(transaction, companyId)) < MEMBERS_MAX) return;
  throw new AppError("BAD_REQUEST", `A company has at most ${MEMBERS_MAX} members.`, {
    details: { limit: "members", max: MEMBERS_MAX },
  });
}
