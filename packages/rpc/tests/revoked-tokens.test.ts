import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase, waitFor } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import { z } from "zod";
import {
  createRevokedTokens,
  createTokenVerifier,
  deleteExpiredRevocations,
  insertRevokedToken,
  MINTED_LIFE_SECONDS_MAX,
  parseRevocation,
  rpcServerStream,
} from "../src/index.ts";
import type { Identity } from "../src/index.ts";
import { alice, audience, rejection, signer, startEcho, tokens } from "./support.ts";

const HOUR_MS = 3_600_000;

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await open(testDatabase.connectionUri);
});
afterAll(async () => {
  await database.end();
  await testDatabase.close();
});

/** A connection with the service's own role, which can use its own list only. */
function open(connectionUri: string): Promise<Database> {
  return openDatabase({
    connectionUri,
    role: `workflow_${audience}`,
    applicationName: "test",
    maxConnections: 2,
    onError: () => {},
  });
}

const inAnHour = (): Date => new Date(Date.now() + HOUR_MS);
const holder: Identity = {
  companyId: newUuid(),
  principal: { type: "token", id: "holder" },
  scopes: ["words:read", "words:write"],
};

const mint = (jti: string, ttlSeconds = 3_600): Promise<string> =>
  tokens.signerOf("admin").sign(holder, { audience, ttlSeconds, jti });

describe("a list of revoked tokens", () => {
  it("tells of a revocation within two seconds, and asks Postgres no more often", async () => {
    let now = 0;
    const counted = countQueries(database);
    const revoked = createRevokedTokens(counted.database, audience, () => now);
    const jti = newUuid();
    expect(await Promise.all([1, 2, 3].map(() => revoked.has(jti)))).toEqual([false, false, false]);
    expect(counted.count()).toBe(1);

    await insertRevokedToken(database, audience, { jti, expiresAt: inAnHour() });
    now = 1_999;
    expect(await revoked.has(jti)).toBe(false);
    now = 2_000;
    expect(await revoked.has(jti)).toBe(true);
    expect(counted.count()).toBe(2);
  });

  it("counts for five seconds when Postgres is away, then nothing is let in", async () => {
    const own = await createTestDatabase();
    const lost = await open(own.connectionUri);
    let now = 0;
    const revoked = createRevokedTokens(lost, audience, () => now);
    const jti = newUuid();
    expect(await revoked.has(jti)).toBe(false);
    await lost.end();
    await own.close();

    now = 4_999;
    expect(await revoked.has(jti)).toBe(false);
    now = 5_000;
    expect(await rejection(revoked.has(jti))).toMatchObject({ reason: "UNAVAILABLE" });
  });

  it("keeps a token as long as it may live, and forgets it then", async () => {
    const [old, young] = [newUuid(), newUuid()];
    const daysAgo = new Date(Date.now() - 48 * HOUR_MS);
    await insertRevokedToken(database, audience, { jti: old, expiresAt: daysAgo });
    await insertRevokedToken(database, audience, { jti: young, expiresAt: inAnHour() });
    // Revoked again by its name only, the token stays listed as long as such a token can live.
    const again = parseRevocation(young, new Date());
    if (again === null) throw new Error("A name is enough.");
    await insertRevokedToken(database, audience, again);
    await insertRevokedToken(database, audience, { jti: young, expiresAt: inAnHour() });

    await deleteExpiredRevocations(database, audience);

    const rows = await database.any(sql.type(z.object({ jti: z.string(), left_s: z.number() }))`
      select jti, extract(epoch from expires_at - now())::float8 as left_s
      from runs.revoked_tokens
      where jti = any(${sql.array([old, young], "text")})
    `);
    expect(rows.map(({ jti }) => jti)).toEqual([young]);
    expect(rows[0]?.left_s).toBeGreaterThan(MINTED_LIFE_SECONDS_MAX - 600);
  });
});

describe("what is to be revoked", () => {
  it("is a minted token or its name; not a service's token, nor anything else", async () => {
    const jti = newUuid();
    const now = new Date();
    expect(parseRevocation(await mint(jti), now)?.jti).toBe(jti);
    expect(parseRevocation(jti, now)?.jti).toBe(jti);
    const ofService = await signer.sign(alice, { audience, ttlSeconds: 60 });
    for (const other of [ofService, "x", "a.b.c", "", "wfk_1"]) {
      expect(parseRevocation(other, now)).toBeNull();
    }
  });
});

describe("a server", () => {
  it("refuses a revoked token, and soon ends the stream that it has opened", async () => {
    const verifier = createTokenVerifier({
      audience,
      publicKeys: tokens.publicKeys,
      revoked: createRevokedTokens(database, audience),
    });
    await using echo = await startEcho(
      {
        repeat: rpcServerStream({
          scopes: "words:read",
          async *handler(_request, { signal }) {
            yield { text: "open" };
            const { promise, reject } = Promise.withResolvers<never>();
            signal.addEventListener("abort", () => reject(signal.reason));
            yield await promise;
          },
        }),
      },
      { verifier },
    );
    const jti = newUuid();
    const [token, other] = [await mint(jti), await mint(newUuid())];
    const opened = echo.client.repeat({ text: "" }, { token })[Symbol.asyncIterator]();
    const kept = echo.client.repeat({ text: "" }, { token: other })[Symbol.asyncIterator]();
    await Promise.all([opened.next(), kept.next()]);
    const ended = rejection(Promise.resolve(opened.next()));
    let isKept = true;
    const keptEnd = kept.next().catch(() => (isKept = false));

    await insertRevokedToken(database, audience, { jti, expiresAt: inAnHour() });

    expect(await ended).toMatchObject({ reason: "UNAUTHORIZED" });
    const refused = await rejection(echo.client.say({ text: "" }, { token }));
    expect(refused).toMatchObject({ reason: "UNAUTHORIZED" });
    expect(await echo.client.say({ text: "hi" }, { token: other })).toEqual({ text: "hi" });
    expect(isKept).toBe(true);
    await echo.server.close(0);
    await keptEnd;
  });

  it("ends the stream of a minted token when that expires", async () => {
    await using echo = await startEcho({
      repeat: rpcServerStream({
        scopes: "words:read",
        async *handler(_request, { signal }) {
          yield { text: "open" };
          const { promise, reject } = Promise.withResolvers<never>();
          signal.addEventListener("abort", () => reject(signal.reason));
          yield await promise;
        },
      }),
    });
    const stream = echo.client.repeat({ text: "" }, { token: await mint(newUuid(), 2) });
    const seen: string[] = [];
    const error = await rejection(
      (async () => {
        for await (const { text } of stream) seen.push(text);
      })(),
    );
    expect([seen, error]).toMatchObject([["open"], { reason: "UNAUTHORIZED" }]);
  });

  it("writes into its log which issuer has claimed what, and tells the caller nothing of it", async () => {
    await using echo = await startEcho();
    const claiming = { ...alice, scopes: ["words:read", "internal:secrets"] };
    const token = await signer.sign(claiming, { audience, ttlSeconds: 60 });

    const error = await rejection(echo.client.say({ text: "" }, { token }));

    expect(error).toMatchObject({
      reason: "UNAUTHORIZED",
      message: "The access token is not valid.",
    });
    const line = await waitFor(() =>
      echo.logged.find(({ msg }) => msg === "a token claims too much"),
    );
    expect(line).toMatchObject({
      level: 40,
      internal: "gateway may not claim the scope internal:secrets at runs",
    });
  });
});

function countQueries(real: Database) {
  let count = 0;
  const database = new Proxy(real, {
    get(target, name) {
      if (name === "any") count += 1;
      return Reflect.get(target, name);
    },
  });
  return { database, count: () => count };
}
