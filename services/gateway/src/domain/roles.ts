import { SCOPES } from "./scopes.ts";
import type { Scope } from "./scopes.ts";

/** The roles of a person in a company, the most powerful first (D10). */
export const ROLES = ["owner", "admin", "member", "viewer"] as const;

/** The role of a person in a company. */
export type Role = (typeof ROLES)[number];

const ADMINISTRATION: readonly Scope[] = ["api_keys:read", "api_keys:write", "audit:read"];

/** The scopes that a session has by its person's role (D10). */
export const SCOPES_BY_ROLE: Readonly<Record<Role, readonly Scope[]>> = {
  owner: SCOPES,
  admin: SCOPES,
  member: SCOPES.filter((scope) => !ADMINISTRATION.includes(scope)),
  viewer: ["workflows:read", "runs:read", "connections:read", "secrets:read"],
};
