const PRINCIPAL_TYPES = ["api_key", "user", "service", "token"] as const;

/** What kind of caller it is. */
export type PrincipalType = (typeof PRINCIPAL_TYPES)[number];

/** Who calls: an API key, a signed-in user, one of our services or a holder of a minted token. */
export interface Principal {
  readonly type: PrincipalType;
  readonly id: string;
  /** For people to read, in audit entries; never a basis for a decision. */
  readonly name?: string | undefined;
  /** What a user is in the company: owner, admin, member or viewer (D10). */
  readonly role?: string | undefined;
  /** A user's address, in calls only whose decision may depend on it (D59). */
  readonly email?: string | undefined;
}

/**
 * On whose behalf a request runs. It always comes from a verified token; no request field may
 * override the company in it.
 */
export interface Identity {
  readonly companyId: string;
  readonly principal: Principal;
  readonly scopes: readonly string[];
}

/** Nobody's. */
const NO_COMPANY = "00000000-0000-0000-0000-000000000000";

/** A service in its own name, without any right: to find out whether its tokens are accepted. */
export function serviceItself(name: string): Identity {
  return { companyId: NO_COMPANY, principal: { type: "service", id: name }, scopes: [] };
}

/** Whether a claim names one of the principal types. */
export function isPrincipalType(value: unknown): value is PrincipalType {
  return PRINCIPAL_TYPES.some((type) => type === value);
}
