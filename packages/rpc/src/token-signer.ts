import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import type { Identity } from "./identity.ts";
import { keyIdOf, readSigningKey, TOKEN_ALGORITHM } from "./keys.ts";
import { SERVICE_LIFE_SECONDS_MAX } from "./token-issuers.ts";
import type { TokenAudience, TokenIssuer } from "./token-issuers.ts";

/**
 * The rest of a token's life at which a new one is signed, half of its life at most. The clocks of
 * two services may differ by that.
 */
const RENEWED_BEFORE_END_MS = 30_000;

/** Identities that one client uses at the same time, about 1 KiB each. */
const MINTED_TOKENS_MAX = 20_000;

export interface TokenSignerOptions {
  /** The issuer that signs; verifiers know the keys and the rights of each. */
  issuer: TokenIssuer;
  /** Ed25519, PKCS #8. */
  privateKeyPem: string;
  /** The clock, in milliseconds since the epoch. */
  now?: () => number;
}

/** The use of a token. */
export interface TokenTerms {
  /** The services that are to accept it. */
  audience: TokenAudience | readonly TokenAudience[];
  ttlSeconds: number;
  /** The name under which the token can be revoked; random when left out. */
  jti?: string;
}

/** Signs identities into tokens. */
export interface TokenSigner {
  sign(identity: Identity, terms: TokenTerms): Promise<string>;
}

/** Hands out tokens for identities, signing only when it must. */
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

/** The tokens of one client. */
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
 * Keeps one signed token an identity and signs a new one 30 s before it ends, see `RENEWED_BEFORE_END_MS`.
 * A service thereby sends the same token for many calls, which lets the receiver skip the
 * signature check.
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
