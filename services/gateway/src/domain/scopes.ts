/** All permissions of credentials (D13). */
export const SCOPES = [
  "workflows:read",
  "workflows:write",
  "workflows:execute",
  "runs:read",
  "connections:read",
  "connections:write",
  "secrets:read",
  "secrets:write",
  "api_keys:read",
  "api_keys:write",
  "audit:read",
] as const;

/** One permission of a credential. */
export type Scope = (typeof SCOPES)[number];

/** Whether a text from outside names a scope. */
export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}
