import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { BACK, comeBack, startAuthorizing } from "../support/authorizing-system.ts";
import type { AuthorizingSystem } from "../support/authorizing-system.ts";
import { makeFinanceConnection } from "../support/connections.ts";

let authorizing: AuthorizingSystem<"google-mail" | "salesforce" | "quickbooks">;

beforeAll(async () => {
  authorizing = await startAuthorizing({
    "google-mail": { issuer: "https://accounts.google.com" },
    salesforce: {
      expiresInSeconds: null,
      tokenMembers: { instance_url: "https://acme.my.salesforce.com", token_type: "Bearer" },
    },
    quickbooks: {
      clientAuth: "client_secret_basic",
      callbackParams: { realmId: "4620816365" },
    },
  });
});
afterAll(() => authorizing?.stop());
beforeEach(() => authorizing.reset());

describe("a callback is not believed", () => {
  it("whose state nobody has begun, or which is another provider's", async () => {
    const { authUrl, connectionId } = await authorizing.begin("google-mail", { redirectUrl: BACK });
    const honest = await authorizing.serverOf("google-mail").visit(authUrl);
    const before = await authorizing.snapshot();
    const callback = `${authorizing.system.origin}/api/v1/connections/google-mail/callback`;
    const forged = [
      `${callback}?connectionId=${connectionId}&success=true`,
      `${callback}?connectionId=${connectionId}&success=true&redirectUrl=https://evil.example`,
      `${callback}?code=made-up&state=${"A".repeat(43)}`,
      `${callback}?code=made-up&state=short`,
      `${callback}?code=made-up`,
      callback,
      honest.href.replace("/google-mail/", "/salesforce/"),
      honest.href.replace("/google-mail/", "/nobody/"),
    ];
    for (const url of forged) {
      expect({ url, ...(await comeBack(url)) }).toMatchObject({ status: 404, location: null });
    }
    expect(await authorizing.snapshot()).toEqual(before);
    expect((await comeBack(honest)).status).toBe(302);
  });

  it("whose code, issuer or field is another one", async () => {
    const { authUrl } = await authorizing.begin("google-mail");
    const honest = await authorizing.serverOf("google-mail").visit(authUrl);
    const before = await authorizing.snapshot();
    for (const [name, value, error] of [
      ["code", "made-up", "invalid_grant"],
      ["iss", "https://evil.example", "invalid_response"],
      ["iss", "", "invalid_response"],
    ] as const) {
      const forged = new URL(honest);
      forged.searchParams.set(name, value);
      expect(await comeBack(forged)).toMatchObject({
        status: 400,
        body: { error: { code: "BAD_REQUEST", details: { error } } },
      });
    }
    expect(await authorizing.snapshot()).toEqual(before);
    const realm = await authorizing
      .serverOf("quickbooks")
      .visit((await authorizing.begin("quickbooks")).authUrl);
    realm.searchParams.set("realmId", "1/../../v3");
    expect(await comeBack(realm)).toMatchObject({
      status: 400,
      body: { error: { details: { error: "invalid_field" } } },
    });
    expect(
      authorizing.serverOf("quickbooks").requests.filter(({ method }) => method === "POST"),
    ).toEqual([]);
    // None of them has spoilt the attempt.
    expect((await comeBack(honest)).status).toBe(200);
  });

  it("which brings no code: it is named, and the provider is not asked", async () => {
    const server = authorizing.serverOf("google-mail");
    const plain = await server.visit((await authorizing.begin("google-mail")).authUrl);
    const before = await authorizing.snapshot();
    for (const change of [
      (url: URL) => url.searchParams.delete("code"),
      (url: URL) => url.searchParams.set("code", ""),
    ]) {
      const forged = new URL(plain);
      change(forged);
      expect(await comeBack(forged)).toMatchObject({
        status: 400,
        body: {
          error: {
            code: "BAD_REQUEST",
            message: expect.stringMatching(/parameter code/),
            details: { error: "missing_code" },
          },
        },
      });
    }
    expect(await authorizing.snapshot()).toEqual(before);
    expect(server.requests.filter(({ method }) => method === "POST")).toEqual([]);
    expect((await comeBack(plain)).status).toBe(200);

    const led = await authorizing.begin("salesforce", { redirectUrl: BACK });
    const { searchParams } = new URL(led.authUrl);
    const callback = `${authorizing.system.origin}/api/v1/connections/salesforce/callback`;
    const back = await comeBack(`${callback}?state=${searchParams.get("state") ?? ""}`);
    expect(back.location).toBe(`${BACK}&error=missing_code&connectionId=${led.connectionId}`);
  });

  it("which says that the person has refused: it ends nothing", async () => {
    const { authUrl, connectionId } = await authorizing.begin("google-mail", { redirectUrl: BACK });
    authorizing.serverOf("google-mail").consent = "deny";
    const refused = await comeBack(await authorizing.serverOf("google-mail").visit(authUrl));
    expect(refused.status).toBe(302);
    expect(refused.location).toBe(`${BACK}&error=access_denied&connectionId=${connectionId}`);
    expect(await authorizing.statusOf(connectionId)).toBe("pending");
    authorizing.serverOf("google-mail").consent = "allow";
    expect(
      (await comeBack(await authorizing.serverOf("google-mail").visit(authUrl))).location,
    ).toContain("success=true");
  });

  it("that comes again: the answer is the same and nothing changes, also when it comes at the same time", async () => {
    const { authUrl, connectionId } = await authorizing.begin("google-mail", { redirectUrl: BACK });
    const honest = await authorizing.serverOf("google-mail").visit(authUrl);
    const together = await Promise.all([1, 2, 3, 4].map(() => comeBack(honest)));
    for (const { location } of together) {
      expect(location).toContain(`success=true&provider=google-mail&connectionId=${connectionId}`);
    }
    const before = await authorizing.snapshot();
    expect((await comeBack(honest)).location).toContain("success=true");
    expect(await authorizing.snapshot()).toEqual(before);
    // The code was shown once: a provider takes its tokens back when it sees one twice.
    expect(authorizing.serverOf("google-mail").reuses()).toBe(0);
    expect(
      authorizing.serverOf("google-mail").requests.filter(({ method }) => method === "POST"),
    ).toHaveLength(1);
  });

  it("that comes late: its attempt was abandoned, replaced, or its connection is gone", async () => {
    const late = await authorizing.begin("google-mail", { redirectUrl: BACK });
    const lateBack = await authorizing.serverOf("google-mail").visit(late.authUrl);
    await authorizing.system.database.query(sql.type(z.object({}))`
      update integrations.authorization_attempts set expires_at = now() - interval '1 second'
    `);
    // Locked rows are skipped by the sweep, which would abandon them between the two looks.
    await authorizing.system.database.transaction(async (transaction) => {
      await transaction.query(sql.type(z.object({}))`
        select from integrations.authorization_attempts for update
      `);
      const before = await authorizing.snapshot(transaction);
      const back = await comeBack(lateBack);
      expect(back.location).toBe(`${BACK}&error=attempt_over&connectionId=${late.connectionId}`);
      expect(await authorizing.snapshot(transaction)).toEqual(before);
    });

    const gone = await authorizing.begin("google-mail", { redirectUrl: BACK });
    const goneBack = await authorizing.serverOf("google-mail").visit(gone.authUrl);
    expect(
      await authorizing.system.call("DELETE", `/connections/${gone.connectionId}`),
    ).toMatchObject({
      status: 200,
    });
    expect((await comeBack(goneBack)).status).toBe(404);
    expect(
      authorizing.serverOf("google-mail").requests.filter(({ method }) => method === "POST"),
    ).toEqual([]);
  });

  it("that comes again says what has become of the connection since", async () => {
    const server = authorizing.serverOf("google-mail");
    const plain = await authorizing.begin("google-mail");
    const plainBack = await server.visit(plain.authUrl);
    expect((await comeBack(plainBack)).status).toBe(200);
    await authorizing.system.call("DELETE", `/connections/${plain.connectionId}`);
    expect(await comeBack(plainBack)).toMatchObject({
      status: 400,
      body: {
        error: {
          code: "BAD_REQUEST",
          message: expect.stringMatching(/disconnected/),
          details: { error: "connection_disconnected" },
        },
      },
    });
    expect(await authorizing.statusOf(plain.connectionId)).toBe("disconnected");

    const led = await authorizing.begin("google-mail", { redirectUrl: BACK });
    const ledBack = await server.visit(led.authUrl);
    expect((await comeBack(ledBack)).location).toContain("success=true");
    for (const status of ["disconnected", "error", "expired"]) {
      await authorizing.system.database.query(sql.type(z.object({}))`
        update integrations.connections set status = ${status} where id = ${led.connectionId}
      `);
      expect((await comeBack(ledBack)).location).toBe(
        `${BACK}&error=connection_${status}&connectionId=${led.connectionId}`,
      );
    }
  });

  it("counts also when the connection has become active meanwhile", async () => {
    const id = await authorizing.connect("google-mail");
    const setStatus = (status: string) =>
      authorizing.system.database.query(sql.type(z.object({}))`
        update integrations.connections set status = ${status} where id = ${id}
      `);
    await setStatus("error");
    const { authUrl } = await authorizing.begin("google-mail");
    await setStatus("active");
    expect(await comeBack(await authorizing.serverOf("google-mail").visit(authUrl))).toMatchObject({
      status: 200,
      body: { data: { status: "active" } },
    });
    // Those who take access back look around when any connection is deleted, and find the account in use.
    const other = await makeFinanceConnection(authorizing.system, authorizing.system.acme.key);
    await authorizing.system.call("DELETE", `/connections/${other}`);
    await waitFor(async () => expect(await findRevocation()).toBeNull());
    expect(
      authorizing
        .serverOf("google-mail")
        .isRevoked(authorizing.serverOf("google-mail").given.at(-1)?.accessToken ?? ""),
    ).toBe(false);
  });

  it("sends nobody anywhere but to the redirectUrl of its attempt", async () => {
    const { authUrl } = await authorizing.begin("google-mail");
    const honest = await authorizing.serverOf("google-mail").visit(authUrl);
    honest.searchParams.set("redirectUrl", "https://evil.example");
    expect(await comeBack(honest)).toMatchObject({ status: 200, location: null });
    for (const redirectUrl of [
      "javascript:alert(1)",
      "//evil.example",
      "/settings",
      "ftp://app.example",
      "https://user@evil.example",
      "https://app.example\\@evil.example",
      "https://app.example/\nx",
      "data:text/html,hi",
      `https://app.example/${"x".repeat(2_048)}`,
      "",
    ]) {
      const answer = await authorizing.askAuthUrl("salesforce", { redirectUrl });
      expect({ redirectUrl, ...answer }).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: ["redirectUrl"] }] },
      });
    }
  });
});

it("callbacks are limited by address", async () => {
  const gateway = await authorizing.system.startGateway({ trustedProxies: 1 });
  const ask = async (address: string) => {
    const url = `${gateway.origin}/api/v1/connections/google-mail/callback?state=x`;
    const response = await fetch(url, { headers: { "x-forwarded-for": address } });
    await response.text();
    return response.status;
  };
  const answers = await Promise.all(Array.from({ length: 70 }, () => ask("192.0.2.1")));
  expect(answers.filter((status) => status === 404)).toHaveLength(60);
  expect(answers.filter((status) => status === 429)).toHaveLength(10);
  expect(await ask("192.0.2.2")).toBe(404);
});

function findRevocation() {
  const row = z.object({ tries: z.number(), lastError: z.string().nullable(), waits: z.boolean() });
  return authorizing.system.database.maybeOne(sql.type(row)`
    select tries, last_error as "lastError", next_try_at > now() + interval '10 seconds' as "waits"
    from integrations.revocations
    order by created_at
    limit 1
  `);
}
