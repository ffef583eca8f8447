import type { KeyObject } from "node:crypto";
import { AppError } from "@workflow/errors";
import { errors, jwtVerify } from "jose";
import type { JWTPayload } from "jose";
import { LRUCache } from "lru-cache";
import type { Identity } from "./identity.ts";
import { isPrincipalType } from "./identity.ts";
import { readVerificationKey, TOKEN_ALGORITHM } from "./keys.ts";
import type { RevokedTokens } from "./revoked-tokens.ts";
import {
  callersOf,
  isRevocable,
  isTokenIssuer,
  policyViolation,
  TOKEN_ISSUERS,
} from "./token-issuers.ts";
import type { TokenAudience, TokenIssuer } from "./token-issuers.ts";

/** The remembered tokens: as many as a gateway keeps, about 1 KiB each. */
const VERIFIED_TOKENS_MAX = 20_000;
/** The most that an issuer's clock may be ahead, in seconds. */
const CLOCK_AHEAD_SECONDS_MAX = 60;

/** The public keys of each issuer, as PEM; two while an issuer changes its key. */
export type IssuerKeys = Readonly<Partial<Record<TokenIssuer, readonly string[]>>>;

export interface TokenVerifierOptions {
  /** The service that verifies: tokens for others are refused. */
  audience: TokenAudience;
  publicKeys: IssuerKeys;
  /** The revoked tokens. */
  revoked: RevokedTokens;
  /** The clock, in milliseconds since the epoch. */
  now?: () => number;
}

/** Verifies tokens. */
export interface TokenVerifier {
  /**
   * The identity in a token. The objects are frozen, since requests share them.
   *
   * @throws AppError UNAUTHORIZED when the token is malformed, forged, expired, revoked, for another service
   * or beyond its issuer's policy; UNAVAILABLE when revocations cannot be read
   */
  verify(token: string): Promise<Identity>;
  /** Whether the token, verified before, comes from an issuer whose tokens can be revoked. */
  isRevocable(token: string): boolean;
}

/** The reason to refuse a valid signature: the issuer claims more than its policy allows. */
export class PolicyViolationError extends Error {
  override readonly name = "PolicyViolationError";
}

interface VerifiedToken {
  identity: Identity;
  expiresAtMs: number;
  /** The name by which the token may be revoked; null for a token that cannot be. */
  revocableJti: string | null;
}

/** A public key and the issuers that sign with it. */
interface KnownKey {
  key: KeyObject;
  issuers: Set<TokenIssuer>;
}

/**
 * Creates a verifier that checks each token's signature once (about 0.1 ms) and remembers the identity until
 * the token expires. A remembered token takes a map lookup.
 *
 * @throws Error when an issuer that calls this service has no key, or an invalid one
 */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { audience, publicKeys, revoked, now = Date.now } = options;
  const keys = readPublicKeys(publicKeys);
  assertCallersKnown(audience, publicKeys);
  const verified = new LRUCache<string, VerifiedToken>({ max: VERIFIED_TOKENS_MAX });

  const findKnown = (token: string): VerifiedToken | undefined => {
    const known = verified.get(token);
    if (known === undefined || now() < known.expiresAtMs) return known;
    verified.delete(token);
    throw unauthenticated("the token has expired");
  };
  const check = async (token: string): Promise<VerifiedToken> => {
    const nowMs = now();
    const { payload, issuers } = await checkSignature(token, keys, audience, nowMs);
    const entry = readClaims(payload, issuers, audience, nowMs);
    verified.set(token, entry);
    return entry;
  };

  return {
    async verify(token) {
      const { identity, revocableJti } = findKnown(token) ?? (await check(token));
      if (revocableJti !== null && (await revoked.has(revocableJti))) {
        throw unauthenticated("the token was revoked");
      }
      return identity;
    },
    isRevocable: (token) => typeof verified.peek(token)?.revocableJti === "string",
  };
}

function readPublicKeys(publicKeys: IssuerKeys): ReadonlyMap<string, KnownKey> {
  const keys = new Map<string, KnownKey>();
  for (const issuer of TOKEN_ISSUERS) {
    for (const pem of publicKeys[issuer] ?? []) {
      const { keyId, key } = readVerificationKey(pem);
      const known = keys.get(keyId) ?? { key, issuers: new Set() };
      known.issuers.add(issuer);
      keys.set(keyId, known);
    }
  }
  return keys;
}

function assertCallersKnown(audience: TokenAudience, publicKeys: IssuerKeys): void {
  const missing = callersOf(audience).filter((issuer) => (publicKeys[issuer]?.length ?? 0) === 0);
  if (missing.length === 0) return;
  throw new Error(
    `INTERNAL_TOKEN_PUBLIC_KEYS: a public key of ${missing.join(" and of ")} is missing; ` +
      `it calls the ${audience} service.`,
  );
}

async function checkSignature(
  token: string,
  keys: ReadonlyMap<string, KnownKey>,
  audience: TokenAudience,
  nowMs: number,
): Promise<{ payload: JWTPayload; issuers: ReadonlySet<TokenIssuer> }> {
  const find = (kid: string | undefined): KnownKey => {
    const known = kid === undefined ? undefined : keys.get(kid);
    if (known === undefined) throw new errors.JWKSNoMatchingKey();
    return known;
  };
  try {
    const { payload, protectedHeader } = await jwtVerify(token, ({ kid }) => find(kid).key, {
      algorithms: [TOKEN_ALGORITHM],
      audience,
      requiredClaims: ["sub", "iat", "exp", "jti", "iss"],
      currentDate: new Date(nowMs),
    });
    return { payload, issuers: find(protectedHeader.kid).issuers };
  } catch (error) {
    throw unauthenticated(error instanceof Error ? error.message : "unreadable", error);
  }
}

function readClaims(
  claims: JWTPayload,
  issuers: ReadonlySet<TokenIssuer>,
  audience: TokenAudience,
  nowMs: number,
): VerifiedToken {
  const { sub, exp, iat, iss, jti } = claims;
  const { cid, typ, scope, name, role, email } = claims;
  if (typeof sub !== "string" || typeof exp !== "number" || typeof iat !== "number") {
    throw unauthenticated("a claim is missing");
  }
  // A token's life counts from its issue. A future issue would extend the life beyond the policy.
  if (iat > nowMs / 1000 + CLOCK_AHEAD_SECONDS_MAX) {
    throw unauthenticated("the token is made in the future");
  }
  if (typeof cid !== "string" || cid === "" || typeof jti !== "string" || jti === "") {
    throw unauthenticated("a claim is missing");
  }
  if (!isPrincipalType(typ) || typeof scope !== "string") {
    throw unauthenticated("a claim has the wrong type");
  }
  if (!isTokenIssuer(iss) || !issuers.has(iss)) {
    throw unauthenticated("the key is not the issuer's");
  }
  const principal = Object.freeze({
    type: typ,
    id: sub,
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof role === "string" ? { role } : {}),
    ...(typeof email === "string" ? { email } : {}),
  });
  const scopes = Object.freeze(scope.split(" ").filter((item) => item !== ""));
  const identity = Object.freeze({ companyId: cid, principal, scopes });
  const violation = policyViolation(iss, audience, { identity, lifeSeconds: exp - iat });
  if (violation !== null) {
    const message = `${iss} may not claim ${violation} at ${audience}`;
    throw unauthenticated(message, new PolicyViolationError(message));
  }
  return {
    identity,
    expiresAtMs: exp * 1000,
    revocableJti: isRevocable(iss) ? jti : null,
  };
}

function unauthenticated(internal: string, cause?: unknown): AppError {
  return new AppError("UNAUTHORIZED", "The access token is not valid.", {
    internal,
    ...(cause === undefined ? {} : { cause }),
  });
}
