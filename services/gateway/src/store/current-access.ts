import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { ROLES } from "../domain/roles.ts";
import type { Role } from "../domain/roles.ts";

const membership = z.object({ role: z.enum(ROLES) });
const key = z.object({ scopes: z.array(z.string()) });

/** The role that a session has in a company; null when the session, or the membership, has ended. */
export async function findSessionRole(
  database: Queryable,
  companyId: string,
  sessionId: string,
): Promise<Role | null> {
  const found = await database.maybeOne(sql.type(membership)`
    select m.role
    from gateway.sessions s
    join gateway.memberships m on m.company_id = s.company_id and m.user_id = s.user_id
    where s.id = ${sessionId} and s.company_id = ${companyId}
  `);
  return found?.role ?? null;
}

/** The scopes of an API key of a company; null when it was revoked or has expired. */
export async function findKeyScopes(
  database: Queryable,
  companyId: string,
  keyId: string,
): Promise<readonly string[] | null> {
  const found = await database.maybeOne(sql.type(key)`
    select scopes
    from gateway.api_keys
    where id = ${keyId}
      and company_id = ${companyId}
      and revoked_at is null
      and (expires_at is null or expires_at > now())
  `);
  return found?.scopes ?? null;
}
