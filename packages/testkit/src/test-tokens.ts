import {
  createTokenMinter,
  createTokenSigner,
  generateSigningKey,
  TOKEN_ISSUERS,
} from "@workflow/rpc";
import type {
  GeneratedSigningKey,
  Identity,
  IssuerKeys,
  TokenAudience,
  TokenIssuer,
  TokenMinter,
  TokenSigner,
} from "@workflow/rpc";

/** A key pair for each issuer of internal tokens, as in a deployment. */
export interface TestTokens {
  keys: Readonly<Record<TokenIssuer, GeneratedSigningKey>>;
  /** The public keys, as services get them. */
  publicKeys: IssuerKeys;
  signerOf(issuer: TokenIssuer): TokenSigner;
  /**
   * Mints in the name of the issuer that speaks for an identity: the gateway, the admin command or a service. For
   * callers other than services, internal scopes are left out.
   */
  minterTo(audience: TokenAudience): TokenMinter;
  /** Mints in the name of a service, with the company and internal scopes only. */
  serviceMinterTo(audience: TokenAudience, service: TokenIssuer): TokenMinter;
  /** The environment of a separate process; an issuer also gets its private key. */
  environment(issuer?: TokenIssuer): Record<string, string>;
}

const INTERNAL = "internal:";

/** Creates a new key pair for each issuer, unless a system's existing keys are given. */
export function createTestTokens(keys: TestTokens["keys"] = newKeys()): TestTokens {
  const signerOf = (issuer: TokenIssuer): TokenSigner =>
    createTokenSigner({ issuer, privateKeyPem: keys[issuer].privateKeyPem });
  return {
    keys,
    publicKeys: Object.fromEntries(
      TOKEN_ISSUERS.map((issuer) => [issuer, [keys[issuer].publicKeyPem]]),
    ),
    signerOf,
    minterTo(audience) {
      const minters = new Map(
        TOKEN_ISSUERS.map((issuer) => [issuer, createTokenMinter(signerOf(issuer), { audience })]),
      );
      return {
        mint(identity) {
          const minter = minters.get(issuerFor(identity));
          if (minter === undefined) throw new Error("Every issuer has a minter.");
          const isService = identity.principal.type === "service";
          const scopes = identity.scopes.filter((scope) => isService || !isInternal(scope));
          return minter.mint({ ...identity, scopes });
        },
      };
    },
    serviceMinterTo(audience, service) {
      const minter = createTokenMinter(signerOf(service), { audience });
      const principal = { type: "service", id: service } as const;
      return {
        mint: ({ companyId, scopes }) =>
          minter.mint({ companyId, principal, scopes: scopes.filter(isInternal) }),
      };
    },
    environment: (issuer) => ({
      INTERNAL_TOKEN_PUBLIC_KEYS: TOKEN_ISSUERS.map(
        (each) => `${each}=${base64(keys[each].publicKeyPem)}`,
      ).join(","),
      ...(issuer === undefined
        ? {}
        : { INTERNAL_TOKEN_PRIVATE_KEY: base64(keys[issuer].privateKeyPem) }),
    }),
  };
}

function newKeys(): TestTokens["keys"] {
  return {
    gateway: generateSigningKey(),
    workflows: generateSigningKey(),
    runs: generateSigningKey(),
    webhooks: generateSigningKey(),
    admin: generateSigningKey(),
  };
}

function isInternal(scope: string): boolean {
  return scope.startsWith(INTERNAL);
}

function issuerFor({ principal: { type, id } }: Identity): TokenIssuer {
  switch (type) {
    case "api_key":
    case "user":
      return "gateway";
    case "token":
      return "admin";
    case "service":
      return TOKEN_ISSUERS.find((issuer) => issuer === id) ?? "gateway";
    default:
      return type satisfies never;
  }
}

function base64(pem: string): string {
  return Buffer.from(pem).toString("base64");
}
