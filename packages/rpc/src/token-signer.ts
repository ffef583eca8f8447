import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import type { Identity } from "./identity.ts";
import { keyIdOf, readSigningKey, TOKEN_ALGORITHM } from "./keys.ts";
import { SERVICE_LIFE_SECONDS_MAX } from "./token-issuers.ts";
import type { TokenAudience, TokenIssuer } from "./token-issuers.ts";

/**
 * A new token is signed when this much of the old one's life is left, at the latest at half of its life. The
 * clocks of two services may differ by this time.
 */
const RENEWED_BEFORE_END_MS = 30_000;

/** The identities of one client that are in use at the same time, about 1 KiB each. */
const MINTED_TOKENS_MAX = 20_000;

export interface TokenSignerOptions {
  /** The issuer to sign as; verifiers know the keys and the policy of each. */
  issuer: TokenIssuer;
  /** Ed25519, PKCS #8. */
  privateKeyPem: string;
  /** The clock, in milliseconds since the epoch. */
  now?: () => number;
}

/** The options of a token. */
export interface TokenTerms {
  /** The services that accept the token. */
  audience: TokenAudience | readonly TokenAudience[];
  ttlSeconds: number;
  /** The token's name, by which it can be revoked; a random one by default. */
  jti?: string;
}

/** Signs identities into tokens. */
export interface TokenSigner {
  sign(identity: Identity, terms: TokenTerms): Promise<string>;
}

/** Provides tokens for identities, and signs only when needed. */
export interface TokenMinter {
  mint(identity: Identity): Promise<string>;
}

/** A signer of JWTs (EdDSA) that the services accept as proof of an identity. */
export function createTokenSigner(options: TokenSignerOptions): TokenSigner {
  const { issuer, privateKeyPem, now = Date.now } = options;
  const key = readSigningKey(privateKeyPem);
  const header = { alg: TOKEN_ALGORITHM, typ: "JWT", kid: keyIdOf(key) };

  return {
    sign({ companyId, principal, scopes }, { audience, ttlSeconds, jti = randomUUID() }) {
      const issuedAt = Math.floor(now() / 1000);
      const { type, id, name, role, email } = principal;
      const claims = {
        cid: companyId,
        typ: type,
        scope: scopes.join(" "),
        ...(name === undefined ? {} : { name }),
        ...(role === undefined ? {} : { role }),
        ...(email === undefined ? {} : { email }),
      };
      return new SignJWT(claims)
        .setProtectedHeader(header)
        .setSubject(id)
        .setIssuer(issuer)
        .setAudience(typeof audience === "string" ? audience : [...audience])
        .setJti(jti)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + ttlSeconds)
        .sign(key);
    },
  };
}

/** The options of one client's tokens. */
export interface TokenMinterOptions {
  /** The service that is called; no other accepts the tokens. */
  audience: TokenAudience;
  /** Default 120, the longest that services may have. */
  ttlSeconds?: number;
  /** The clock, in milliseconds since the epoch. */
  now?: () => number;
}

interface MintedToken {
  token: Promise<string>;
  renewAtMs: number;
}

/**
 * Keeps one signed token for each identity and signs a new one 30 s before its expiry, see
 * `RENEWED_BEFORE_END_MS`. So a service sends one token with many calls, and the receiver skips the signature
 * check.
 */
export function createTokenMinter(signer: TokenSigner, options: TokenMinterOptions): TokenMinter {
  const { audience, ttlSeconds = SERVICE_LIFE_SECONDS_MAX, now = Date.now } = options;
  const usedForMs = Math.max(ttlSeconds * 500, ttlSeconds * 1000 - RENEWED_BEFORE_END_MS);
  const minted = new LRUCache<string, MintedToken>({ max: MINTED_TOKENS_MAX });

  return {
    mint(identity) {
      const key = identityKey(identity);
      const known = minted.get(key);
      if (known !== undefined && now() < known.renewAtMs) return known.token;
      const token = signer.sign(identity, { audience, ttlSeconds });
      const entry = { token, renewAtMs: now() + usedForMs };
      minted.set(key, entry);
      // A failed signature is not kept: the next caller tries again.
      token.catch(() => {
        if (minted.peek(key) === entry) minted.delete(key);
      });
      return token;
    },
  };
}

function identityKey({ companyId, principal, scopes }: Identity): string {
  const { type, id, name, role, email } = principal;
  return JSON.stringify([companyId, type, id, name, role, email, scopes]);
}
