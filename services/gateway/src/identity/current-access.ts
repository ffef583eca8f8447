import type { Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Caller } from "../auth/caller.ts";
import { credentialEnded } from "../auth/credential-ended.ts";
import { SCOPES_BY_ROLE } from "../domain/roles.ts";
import type { Role } from "../domain/roles.ts";
import type { Scope } from "../domain/scopes.ts";
import { findKeyScopes, findSessionRole } from "../store/current-access.ts";

/** The access of a caller to a company. */
export interface Access {
  /** Null for an API key. */
  readonly role: Role | null;
  readonly scopes: readonly string[];
}

/** The access that the caller had when the request was admitted. */
export function accessOnEntry({ identity, session }: Caller): Access {
  return { role: session?.role ?? null, scopes: identity.scopes };
}

/**
 * The caller's access now. Requests that give access to others check it again here, since a request
 * may have waited for seconds and a gateway may cache a caller for as long. Call it while the
 * members are locked, so that an earlier removal counts.
 *
 * @throws AppError UNAUTHORIZED when the key or the session has ended; FORBIDDEN when the scope is
 * gone
 */
export async function getCurrentAccess(
  transaction: Transaction,
  { identity, session }: Caller,
  scope: Scope,
): Promise<Access> {
  const { companyId, principal } = identity;
  const access =
    session === null
      ? accessOfKey(await findKeyScopes(transaction, companyId, principal.id))
      : accessOfRole(await findSessionRole(transaction, companyId, session.id));
  if (access === null) throw credentialEnded();
  if (access.scopes.includes(scope)) return access;
  const holder = access.role === null ? "API key" : `role ${access.role}`;
  throw new AppError("FORBIDDEN", `The ${holder} lacks the scope ${scope}.`);
}

function accessOfKey(scopes: readonly string[] | null): Access | null {
  return scopes === null ? null : { role: null, scopes };
}

function accessOfRole(role: Role | null): Access | null {
  return role === null ? null : { role, scopes: SCOPES_BY_ROLE[role] };
}
