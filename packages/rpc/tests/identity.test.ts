import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { SignJWT } from "jose";
import { createPrivateKey } from "node:crypto";
import {
  createTokenMinter,
  createTokenSigner,
  createTokenVerifier,
  generateSigningKey,
  rpc,
} from "../src/index.ts";
import type { Identity, IssuerKeys, TokenSigner, TokenVerifier } from "../src/index.ts";
import {
  alice,
  audience,
  NONE_REVOKED,
  rejection,
  signer,
  startEcho,
  tokens,
  verifier,
} from "./support.ts";
import type { Echo } from "./support.ts";

const terms = { audience, ttlSeconds: 60 } as const;

describe("a token", () => {
  it("gives back the identity it was signed for", async () => {
    const boss: Identity = {
      companyId: "c",
      principal: { type: "user", id: "u", role: "owner", email: "boss@example.test" },
      scopes: [],
    };
    const key: Identity = { companyId: "c", principal: { type: "api_key", id: "k" }, scopes: [] };
    const identities = [alice, boss, key];
    const signed = await Promise.all(identities.map((each) => signer.sign(each, terms)));

    expect(await Promise.all(signed.map((token) => verifier.verify(token)))).toEqual(identities);
  });

  it("is checked once and then remembered, with an identity nobody can change", async () => {
    const token = await signer.sign(alice, terms);

    const first = await verifier.verify(token);
    const second = await verifier.verify(token);

    expect(second).toBe(first);
    expect([first, first.principal, first.scopes].every(Object.isFrozen)).toBe(true);
  });

  it("is refused after it expires, also when it is remembered", async () => {
    let now = Date.UTC(2026, 0, 1);
    const clock = { now: () => now };
    const { privateKeyPem } = tokens.keys.gateway;
    const own = createTokenSigner({ issuer: "gateway", privateKeyPem, ...clock });
    const token = await own.sign(alice, terms);
    const used = verifierOf(tokens.publicKeys, clock);
    const fresh = verifierOf(tokens.publicKeys, clock);
    now += 59_000;
    await used.verify(token);
    now += 1_000;

    const errors = [await rejection(used.verify(token)), await rejection(fresh.verify(token))];

    expect(errors).toMatchObject([{ reason: "UNAUTHORIZED" }, { reason: "UNAUTHORIZED" }]);
  });

  it("is refused when it says to be made in the future, beyond what clocks differ by", async () => {
    const { privateKeyPem } = tokens.keys.gateway;
    const madeIn = (seconds: number): Promise<string> => {
      const clock = { now: () => Date.now() + seconds * 1000 };
      return createTokenSigner({ issuer: "gateway", privateKeyPem, ...clock }).sign(alice, terms);
    };

    expect(await verifier.verify(await madeIn(30))).toEqual(alice);
    const error = await rejection(verifier.verify(await madeIn(3_600)));

    expect(error).toMatchObject({ reason: "UNAUTHORIZED" });
  });

  it("is accepted under the old and the new key while its issuer changes keys", async () => {
    const next = generateSigningKey();
    const both = verifierOf({
      ...tokens.publicKeys,
      gateway: [tokens.keys.gateway.publicKeyPem, next.publicKeyPem],
    });
    const nextSigner = createTokenSigner({ issuer: "gateway", privateKeyPem: next.privateKeyPem });

    expect(await both.verify(await signer.sign(alice, terms))).toEqual(alice);
    expect(await both.verify(await nextSigner.sign(alice, terms))).toEqual(alice);
  });
});

describe("keys", () => {
  it("that are no Ed25519 keys are refused without being shown", () => {
    const bad = { issuer: "gateway", privateKeyPem: "hunter2" } as const;
    expect(() => createTokenSigner(bad)).toThrow(/not a valid PEM key/);
    expect(() => verifierOf({ ...tokens.publicKeys, admin: ["hunter2"] })).toThrow(
      /not a valid PEM key/,
    );
  });

  it("of those who call a service are demanded by it, with the name of the setting", () => {
    const { gateway = [], admin = [] } = tokens.publicKeys;
    expect(() => verifierOf({ gateway, admin })).toThrow(
      /INTERNAL_TOKEN_PUBLIC_KEYS: a public key of workflows and of webhooks is missing/,
    );
    expect(() => verifierOf({})).toThrow(/of gateway and of workflows and of webhooks is missing/);
  });
});

function verifierOf(publicKeys: IssuerKeys, clock: { now?: () => number } = {}): TokenVerifier {
  return createTokenVerifier({ audience, publicKeys, revoked: NONE_REVOKED, ...clock });
}

describe("a minter", () => {
  it("signs anew for another identity, and when half of a token's life is over", async () => {
    let now = 0;
    const signed: Identity[] = [];
    const counting: TokenSigner = {
      sign: async (identity) => {
        signed.push(identity);
        return `token-${signed.length}`;
      },
    };
    const minter = createTokenMinter(counting, { audience, ttlSeconds: 60, now: () => now });
    const bob = { ...alice, principal: { type: "user" as const, id: "user-2" } };

    const tokens = [await minter.mint(alice), await minter.mint({ ...alice })];
    tokens.push(await minter.mint(bob), await minter.mint({ ...alice, scopes: ["words:read"] }));
    now = 29_999;
    tokens.push(await minter.mint(alice));
    now = 30_000;
    tokens.push(await minter.mint(alice));

    expect(tokens).toEqual(["token-1", "token-1", "token-2", "token-3", "token-1", "token-4"]);
  });

  it("uses a token of the usual life until 30 s before its end", async () => {
    let now = 0;
    const lives: number[] = [];
    const counting: TokenSigner = {
      sign: async (_identity, { ttlSeconds }) => `token-${lives.push(ttlSeconds)}`,
    };
    const minter = createTokenMinter(counting, { audience, now: () => now });

    const tokens = [await minter.mint(alice)];
    now = 89_999;
    tokens.push(await minter.mint(alice));
    now = 90_000;
    tokens.push(await minter.mint(alice));

    expect(tokens).toEqual(["token-1", "token-1", "token-2"]);
    expect(lives).toEqual([120, 120]);
  });

  it("tries again after a failed signature", async () => {
    let calls = 0;
    const minter = createTokenMinter(
      {
        sign: async () => {
          calls += 1;
          if (calls === 1) throw new Error("no entropy");
          return "token";
        },
      },
      { audience },
    );

    await rejection(minter.mint(alice));

    expect(await minter.mint(alice)).toBe("token");
  });
});

describe("a server", () => {
  let echo: Echo;
  let handled = 0;
  beforeAll(async () => {
    echo = await startEcho({
      say: rpc({
        scopes: ["words:write", "words:admin"],
        handler: async (_, context) => {
          handled += 1;
          return { text: JSON.stringify(context.identity) };
        },
      }),
    });
  });
  afterAll(async () => {
    await echo[Symbol.asyncDispose]();
  });

  it("gives the handler the identity in the token", async () => {
    const { text } = await echo.client.say({ text: "" }, { identity: alice });

    expect(JSON.parse(text)).toEqual(alice);
  });

  it.each([
    ["no token", () => undefined],
    ["no JWT", () => "secret"],
    ["a token signed with another key", () => foreignToken()],
    ["a forged body", async () => forge(await signer.sign(alice, terms))],
    ["an expired token", () => signer.sign(alice, { audience, ttlSeconds: -1 })],
    ["another audience", () => handMade({ aud: "elsewhere" })],
    ["no name of its own", () => handMade({ jti: undefined })],
    ["no issuer", () => handMade({ iss: undefined })],
    ["another issuer than the key's", () => handMade({ iss: "admin" })],
    ["no company", () => handMade({ cid: undefined })],
    ["an unknown kind of principal", () => handMade({ typ: "root" })],
    ["no algorithm", () => unsigned()],
  ])("answers UNAUTHORIZED on every method for %s", async (_, makeToken) => {
    const before = handled;
    const token = await makeToken();

    const unary = await rejection(echo.client.say({ text: "" }, { token }));
    const stream = await rejection(first(echo.client.repeat({ text: "" }, { token })));

    expect([unary, stream]).toMatchObject([{ reason: "UNAUTHORIZED" }, { reason: "UNAUTHORIZED" }]);
    expect(handled).toBe(before);
  });

  it("answers FORBIDDEN naming the scopes of which one is needed", async () => {
    const reader = { ...alice, scopes: ["words:read"] };

    const error = await rejection(echo.client.say({ text: "" }, { identity: reader }));

    expect(error).toMatchObject({
      reason: "FORBIDDEN",
      message: "The scope words:write or words:admin is required.",
    });
  });

  it("accepts any one of several scopes", async () => {
    const admin = { ...alice, scopes: ["words:admin"] };

    expect(await echo.client.say({ text: "" }, { identity: admin })).toBeDefined();
  });
});

function foreignToken(): Promise<string> {
  const { privateKeyPem } = generateSigningKey();
  return handMade({}, privateKeyPem);
}

function forge(token: string): string {
  const [header, body = "", signature] = token.split(".");
  const claims: unknown = JSON.parse(Buffer.from(body, "base64url").toString());
  const other = Object.assign({}, claims, { cid: "company-2" });
  return [header, Buffer.from(JSON.stringify(other)).toString("base64url"), signature].join(".");
}

const goodClaims = {
  sub: "user-1",
  cid: "company-1",
  typ: "user",
  scope: "words:read",
  aud: audience,
  iss: "gateway",
  jti: "one",
};

function handMade(
  change: Record<string, string | undefined>,
  privateKeyPem = tokens.keys.gateway.privateKeyPem,
): Promise<string> {
  return new SignJWT({ ...goodClaims, ...change })
    .setProtectedHeader({ alg: "EdDSA", kid: tokens.keys.gateway.keyId })
    .setIssuedAt()
    .setExpirationTime("1m")
    .sign(createPrivateKey(privateKeyPem));
}

function unsigned(): string {
  const encode = (value: object): string =>
    Buffer.from(JSON.stringify(value)).toString("base64url");
  const seconds = Math.floor(Date.now() / 1000);
  const claims = { ...goodClaims, iat: seconds, exp: seconds + 60 };
  return `${encode({ alg: "none", kid: tokens.keys.gateway.keyId })}.${encode(claims)}.`;
}

async function first<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}
