import { SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import type { Identity } from "./identity.ts";
import { keyIdOf, readSigningKey } from "./keys.ts";
import { DEFAULT_TOKEN_ISSUER, TOKEN_ALGORITHM, TOKEN_AUDIENCE } from "./token-claims.ts";

const MINTED_TOKENS_MAX = 10_000;

export interface TokenSignerOptions {
  /** Ed25519, PKCS #8. */
  privateKeyPem: string;
  /** Derived from the key when left out, which is what verifiers expect of keys without an id. */
  keyId?: string;
  issuer?: string;
  /** The clock, in milliseconds since the epoch. */
  now?: () => number;
}

/** Signs identities into short-lived tokens. */
export interface TokenSigner {
  sign(identity: Identity, ttlSeconds: number): Promise<string>;
}

/** Hands out tokens for identities, signing only when it must. */
export interface TokenMinter {
  mint(identity: Identity): Promise<string>;
}

/** A signer of JWTs (EdDSA) that every service of the system accepts as proof of an identity. */
export function createTokenSigner(options: TokenSignerOptions): TokenSigner {
  const { privateKeyPem, issuer = DEFAULT_TOKEN_ISSUER, now = Date.now } = options;
  const key = readSigningKey(privateKeyPem);
  const header = { alg: TOKEN_ALGORITHM, typ: "JWT", kid: options.keyId ?? keyIdOf(key) };

  return {
    sign(identity, ttlSeconds) {
      const issuedAt = Math.floor(now() / 1000);
      const { companyId, principal, scopes } = identity;
      const claims = {
        cid: companyId,
        typ: principal.type,
        scope: scopes.join(" "),
        ...(principal.name === undefined ? {} : { name: principal.name }),
      };
      return new SignJWT(claims)
        .setProtectedHeader(header)
        .setSubject(principal.id)
        .setIssuer(issuer)
        .setAudience(TOKEN_AUDIENCE)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + ttlSeconds)
        .sign(key);
    },
  };
}

/**
 * Keeps one signed token an identity and signs a new one when less than half of its life is left.
 * A service thereby sends the same token for many calls, which lets the receiver skip the
 * signature check.
 */
export function createTokenMinter(
  signer: TokenSigner,
  options: { ttlSeconds?: number; now?: () => number } = {},
): TokenMinter {
  const { ttlSeconds = 60, now = Date.now } = options;
  const minted = new LRUCache<string, { token: Promise<string>; renewAtMs: number }>({
    max: MINTED_TOKENS_MAX,
  });

  return {
    mint(identity) {
      const key = identityKey(identity);
      const known = minted.get(key);
      if (known !== undefined && now() < known.renewAtMs) return known.token;
      const token = signer.sign(identity, ttlSeconds);
      const entry = { token, renewAtMs: now() + ttlSeconds * 500 };
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
  return JSON.stringify([companyId, principal.type, principal.id, principal.name, scopes]);
}
