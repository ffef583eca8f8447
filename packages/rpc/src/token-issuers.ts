import type { Identity, PrincipalType } from "./identity.ts";

/** The issuers of internal tokens: the services that call others, and the admin command. */
export const TOKEN_ISSUERS = ["gateway", "workflows", "runs", "webhooks", "admin"] as const;

/** The claim `iss` of an internal token. */
export type TokenIssuer = (typeof TOKEN_ISSUERS)[number];

/** The services that accept tokens; each has a database schema of that name. */
export const TOKEN_AUDIENCES = ["workflows", "runs", "tables", "integrations", "webhooks"] as const;

/** An entry of the claim `aud` of an internal token. */
export type TokenAudience = (typeof TOKEN_AUDIENCES)[number];

/** The policy of one issuer. A token that exceeds its issuer's policy is refused. */
interface IssuerPolicy {
  /** The kinds of principals in its tokens; a service speaks for itself only. */
  principals: readonly PrincipalType[];
  /** The scopes at each service. `public` means all scopes but `internal:…`, at all services. */
  scopes: "public" | Readonly<Partial<Record<TokenAudience, readonly string[]>>>;
  /** The scopes in its own name only, at each service. A token with one of them holds no others. */
  own?: Readonly<Partial<Record<TokenAudience, readonly string[]>>>;
  /** The longest life of a token, in seconds. */
  lifeSecondsMax: number;
  /** Whether a token can be revoked before its expiry. */
  isRevocable: boolean;
}

/** The prefix of scopes between services; no key, role or command grants one. */
const INTERNAL_SCOPE = "internal:";
/** The life is short because tokens of services cannot be revoked. */
export const SERVICE_LIFE_SECONDS_MAX = 120;

/** The longest life of a token that the admin command mints, in seconds: 30 days. */
export const MINTED_LIFE_SECONDS_MAX = 30 * 24 * 60 * 60;

/** The policies of all issuers (ADR 21). A new call needs its scope here before it is admitted. */
const POLICIES: Readonly<Record<TokenIssuer, IssuerPolicy>> = {
  gateway: {
    // The gateway uses its own name for people who return from a provider and are not known yet.
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
      // Steps read and write rows with the scopes of any caller, in the name of the run's company.
      tables: ["workflows:read", "workflows:write"],
      integrations: ["internal:secrets", "internal:effects"],
    },
    lifeSecondsMax: SERVICE_LIFE_SECONDS_MAX,
    isRevocable: false,
  },
  webhooks: {
    principals: ["service"],
    // The service uses its own name, because these calls find the company of an event.
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

/** The issuers whose keys a service needs in order to accept its calls. */
export function callersOf(audience: TokenAudience): readonly TokenIssuer[] {
  return TOKEN_ISSUERS.filter((issuer) => {
    const { scopes } = POLICIES[issuer];
    return issuer === "gateway" || (scopes !== "public" && scopes[audience] !== undefined);
  });
}

/** Whether tokens of an issuer can be revoked before their expiry. */
export function isRevocable(issuer: TokenIssuer): boolean {
  return POLICIES[issuer].isRevocable;
}

/** The parts of a token that its issuer's policy covers. */
export interface JudgedClaims {
  identity: Identity;
  /** The time from issue to expiry. */
  lifeSeconds: number;
}

/** The part of a token that its issuer may not claim at a service; null for a valid token. */
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

/** Whether a name is that of a service that accepts tokens. */
export function isTokenAudience(value: unknown): value is TokenAudience {
  return TOKEN_AUDIENCES.some((audience) => audience === value);
}

/** Whether a claim names one of the issuers. */
export function isTokenIssuer(value: unknown): value is TokenIssuer {
  return TOKEN_ISSUERS.some((issuer) => issuer === value);
}
