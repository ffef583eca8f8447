const PRINCIPAL_TYPES = ["api_key", "user", "service", "token"] as const;

/** The kinds of callers. */
export type PrincipalType = (typeof PRINCIPAL_TYPES)[number];

/**
 * The caller: an API key, a signed-in user, one of our services or the holder of a minted token.
 */
export interface Principal {
  readonly type: PrincipalType;
  readonly id: string;
  /** The name for people to read in audit entries; never a basis for a decision. */
  readonly name?: string | undefined;
  /** The role of a user in the company: owner, admin, member or viewer (D10). */
  readonly role?: string | undefined;
  /** A user's e-mail address, only in calls whose decision may depend on it (D59). */
  readonly email?: string | undefined;
}

/**
 * The company and the caller of a request. Every identity comes from a verified token, and no
 * request field overrides its company.
 */
export interface Identity {
  readonly companyId: string;
  readonly principal: Principal;
  readonly scopes: readonly string[];
}

/** The id of no company. */
const NO_COMPANY = "00000000-0000-0000-0000-000000000000";

/** A service in its own name, without any right: to find out whether its tokens are accepted. */
export function serviceItself(name: string): Identity {
  return { companyId: NO_COMPANY, principal: { type: "service", id: name }, scopes: [] };
}

/** Whether a claim names one of the principal types. */
export function isPrincipalType(value: unknown): value is PrincipalType {
  return PRINCIPAL_TYPES.some((type) => type === value);
}
