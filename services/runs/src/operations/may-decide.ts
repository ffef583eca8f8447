import type { Principal } from "@workflow/rpc";
import type { Approvers } from "../domain/approvers.ts";

/**
 * Whether a caller with the scope workflows:execute may decide (D59). If the step names nobody, every
 * caller from outside may; else only those who are named. Services act for nobody, so they never decide.
 *
 * @param approvers null when the step names nobody
 */
export function mayDecide(approvers: Approvers | null, caller: Principal): boolean {
  switch (caller.type) {
    case "service":
      return false;
    case "token":
      return approvers === null;
    case "api_key":
      return approvers === null || approvers.apiKeys.some((id) => isSame(id, caller.id));
    case "user":
      return approvers === null || namesPerson(approvers, caller);
    default:
      return caller.type satisfies never;
  }
}

/** Ids and e-mail addresses cannot be confused: only addresses have an @. */
function namesPerson({ users, roles }: Approvers, { id, email, role }: Principal): boolean {
  if (role !== undefined && roles.includes(role)) return true;
  return users.some((name) => isSame(name, id) || (email !== undefined && isSame(name, email)));
}

/** Upper and lower case are the same in ids and addresses. */
function isSame(named: string, known: string): boolean {
  return named.toLowerCase() === known.toLowerCase();
}
