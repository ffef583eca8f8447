import type { Identity, PrincipalType } from "./identity.ts";

/** The signers of internal tokens: the services that call others, and the admin command. */
export const TOKEN_ISSUERS = ["gateway", "workflows", "runs", "webhooks", "admin"] as const;

/** The claim `iss` of an internal token. */
export type TokenIssuer = (typeof TOKEN_ISSUERS)[number];

/** The services that a token can be for; each has a database schema of that name. */
export const TOKEN_AUDIENCES = ["workflows", "runs", "tables", "integrations", "webhooks"] as const;

/** An entry of the claim `aud` of an internal token. */
export type TokenAudience = (typeof TOKEN_AUDIENCES)[number];

/** The claims that tokens of one issuer may make; a token with any other claim is worthless. */
interface IssuerPolicy {
  /** The kinds of callers that the issuer speaks for; a service speaks for itself alone. */
  principals: readonly PrincipalType[];
  /** The scopes at each service; `public` is every one but `internal:…`, at all of them. */
  scopes: "public" | Readonly<Partial<Record<TokenAudience, readonly string[]>>>;
  /**
   * The scopes that the issuer holds in its own name only, at each service; the issuer then holds
   * no others.
   */
  own?: Readonly<Partial<Record<TokenAudience, readonly string[]>>>;
  /** The longest time from a token's making to its end, in seconds. */
  lifeSecondsMax: number;
  /** Whether a token can be taken back before its end. */
  isRevocable: boolean;
}

/** Beginning of the scopes that services hold among themselves; no key, role or command gives one. */
const INTERNAL_SCOPE = "internal:";
/** Short, because tokens of services cannot be revoked: they are not looked up anywhere. */
export const SERVICE_LIFE_SECONDS_MAX = 120;

/** The longest life of a token that the admin command mints, in seconds: 30 days. */
export const MINTED_LIFE_SECONDS_MAX = 30 * 24 * 60 * 60;

/** The policy of each issuer (ADR 21). A new call needs its scope here before it is let in. */
const POLICIES: Readonly<Record<TokenIssuer, IssuerPolicy>> = {
  gateway: {
    // The gateway acts in its own name for people who come back from a provider: nothing is known
    // of them yet.
    principals: ["api_key", "user", "service"],
    scopes: "public",
    own: { integrations: ["internal:authorizations"] },
    lifeSecondsMax: SERVICE_LIFE_SECONDS_MAX,
    isRevocable: false,
  },
  workflows: {
    principals: ["service"],
    scopes: { runs: ["internal:deployments"] },
    lifeSecondsMax: SERVICE_LIFE_SECONDS_MAX,
    isRevocable: false,
  },
  runs: {
    principals: ["service"],
    scopes: {
      // Steps read and write rows with the rights of any caller, in the name of the run's company.
      tables: ["workflows:read", "workflows:write"],
      integrations: ["internal:secrets", "internal:effects"],
    },
    lifeSecondsMax: SERVICE_LIFE_SECONDS_MAX,
    isRevocable: false,
  },
  webhooks: {
    principals: ["service"],
    // The webhooks service finds out by these calls for whom an event is.
    scopes: {
      runs: ["internal:triggers", "internal:run_events"],
      integrations: ["internal:accounts"],
    },
    lifeSecondsMax: SERVICE_LIFE_SECONDS_MAX,
    isRevocable: false,
  },
  admin: {
    principals: ["token"],
    scopes: "public",
    lifeSecondsMax: MINTED_LIFE_SECONDS_MAX,
    isRevocable: true,
  },
};

/** The issuers without whose keys a service would refuse the calls that it is there for. */
export function callersOf(audience: TokenAudience): readonly TokenIssuer[] {
  return TOKEN_ISSUERS.filter((issuer) => {
    const { scopes } = POLICIES[issuer];
    return issuer === "gateway" || (scopes !== "public" && scopes[audience] !== undefined);
  });
}

/** Whether tokens of an issuer can be taken back before their end. */
export function isRevocable(issuer: TokenIssuer): boolean {
  return POLICIES[issuer].isRevocable;
}

/** The claims of a token that its issuer's policy looks at. */
export interface JudgedClaims {
  identity: Identity;
  /** The seconds from the token's making to its end. */
  lifeSeconds: number;
}

/** Says what in a token its issuer may not claim at a service; null when all of it is in order. */
export function policyViolation(
  issuer: TokenIssuer,
  audience: TokenAudience,
  { identity, lifeSeconds }: JudgedClaims,
): string | null {
  const policy = POLICIES[issuer];
  const { principal, scopes } = identity;
  if (!policy.principals.includes(principal.type)) return `the principal type ${principal.type}`;
  if (principal.type === "service" && principal.id !== issuer) {
    return `to be the service ${principal.id}`;
  }
  const describesPerson = principal.role !== undefined || principal.email !== undefined;
  if (describesPerson && principal.type !== "user") return "a role or an e-mail of no person";
  if (lifeSeconds > policy.lifeSecondsMax) return `a life of ${lifeSeconds} s`;
  const foreign = scopes.find((scope) => !mayHold(policy, audience, principal.type, scope));
  return foreign === undefined ? null : `the scope ${foreign}`;
}

function mayHold(
  { scopes, own }: IssuerPolicy,
  audience: TokenAudience,
  type: PrincipalType,
  scope: string,
): boolean {
  if (own !== undefined && type === "service") return own[audience]?.includes(scope) ?? false;
  if (scopes === "public") return !scope.startsWith(INTERNAL_SCOPE);
  return scopes[audience]?.includes(scope) ?? false;
}

/** Whether a name is one of a service that takes tokens. */
export function isTokenAudience(value: unknown): value is TokenAudience {
  return TOKEN_AUDIENCES.some((audience) => audience === value);
}

/** Whether a claim names one of the issuers. */
export function isTokenIssuer(value: unknown): value is TokenIssuer {
  return TOKEN_ISSUERS.some((issuer) => issuer === value);
}
