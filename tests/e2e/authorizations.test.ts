import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import type { ProviderSettings } from "@workflow/service";
import { startHttpDouble, startOAuthDouble, TROUBLES, waitFor } from "@workflow/testkit";
import type { HttpDouble, OAuthDouble } from "@workflow/testkit";
import { z } from "zod";
import type { Answer } from "../support/api-client.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Company, WholeSystem } from "../support/whole-system.ts";

const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret" };
const GOOGLE = "https://accounts.google.com";
const BACK = "https://app.example/settings?tab=accounts";

/** The provider's API, for the question whose account it is. */
let api: HttpDouble;
/** Demands a proof key and names itself in its answers. */
let google: OAuthDouble;
let salesforce: OAuthDouble;
let quickbooks: OAuthDouble;
let system: WholeSystem;

beforeAll(async () => {
  api = await startHttpDouble(({ path }) =>
    path.startsWith("/services/data")
      ? { body: { records: [{ Id: "00D000000000001EAA", Name: "Acme" }] } }
      : { body: { emailAddress: "ada@example.com" } },
  );
  google = await startOAuthDouble({ ...CLIENT, issuer: GOOGLE });
  salesforce = await startOAuthDouble({
    ...CLIENT,
    expiresInSeconds: null,
    tokenMembers: { instance_url: "https://acme.my.salesforce.com", token_type: "Bearer" },
  });
  quickbooks = await startOAuthDouble({
    ...CLIENT,
    clientAuth: "client_secret_basic",
    callbackParams: { realmId: "4620816365" },
  });
  const settings = (double: OAuthDouble) => ({
    ...CLIENT,
    oauthBaseUrl: double.url,
    baseUrl: api.url,
  });
  system = await startWholeSystem({
    connecting: {
      answerTimeoutMs: 1_000,
      providers: new Map<string, ProviderSettings>([
        ["google-mail", settings(google)],
        ["salesforce", settings(salesforce)],
        ["quickbooks", settings(quickbooks)],
        // Its double says nothing of accounts.
        ["docusign", settings(quickbooks)],
        ["hubspot", { clientId: "half" }],
      ]),
    },
  });
});
afterAll(async () => {
  await system?.stop();
  for (const double of [api, google, salesforce, quickbooks]) await double?.close();
});

/** Each test begins without connections. */
beforeEach(async () => {
  await system.database.query(sql.type(z.object({}))`delete from integrations.connections`);
  await system.database.query(sql.type(z.object({}))`delete from integrations.revocations`);
  for (const double of [google, salesforce, quickbooks]) {
    double.consent = "allow";
    double.trouble = null;
    double.failures.length = 0;
    double.requests.length = 0;
  }
});

const auditEvents = z.array(
  z.looseObject({ action: z.string(), actor: z.looseObject({ type: z.string() }) }),
);
const begun = z.strictObject({
  connectionId: z.string().regex(/^conn_[0-9a-hjkmnp-tv-z]{26}$/),
  provider: z.string(),
  authUrl: z.url(),
  isNew: z.boolean(),
  message: z.string().min(1),
});

function askAuthUrl(
  provider: string,
  query: Record<string, string> = {},
  company: Company = system.acme,
): Promise<Answer> {
  const path = `/connections/${provider}/auth-url?${new URLSearchParams(query).toString()}`;
  return system.call("GET", path, { key: company.key });
}

async function begin(provider: string, query: Record<string, string> = {}) {
  const answer = await askAuthUrl(provider, query);
  expect(answer).toMatchObject({ status: 200, error: undefined });
  return begun.parse(answer.data);
}

/** What comes of a callback: a redirect, or the body. */
async function comeBack(url: URL | string) {
  const response = await fetch(url, { redirect: "manual" });
  const location = response.headers.get("location");
  const text = await response.text();
  const body: unknown = text === "" ? null : JSON.parse(text);
  return { status: response.status, location, headers: response.headers, body };
}

async function statusOf(connectionId: string): Promise<unknown> {
  const { data } = await system.call("GET", `/connections/${connectionId}`);
  return z.looseObject({ status: z.string() }).parse(data).status;
}

async function connect(provider: string, double: OAuthDouble): Promise<string> {
  const { authUrl, connectionId } = await begin(provider);
  const back = await comeBack(await double.visit(authUrl));
  expect(back).toMatchObject({ status: 200, body: { data: { status: "active" } } });
  return connectionId;
}

describe("the way through a provider's own page", () => {
  it("ends with an active connection and the person at redirectUrl", async () => {
    const { connectionId, authUrl, isNew, provider } = await begin("google-mail", {
      redirectUrl: BACK,
      connectionName: "Support mail",
    });
    expect({ isNew, provider }).toEqual({ isNew: true, provider: "google-mail" });
    const asked = new URL(authUrl);
    expect(asked.origin).toBe(google.url);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      response_type: "code",
      client_id: CLIENT.clientId,
      code_challenge_method: "S256",
      redirect_uri: `${system.origin}/api/v1/connections/google-mail/callback`,
    });
    expect(await statusOf(connectionId)).toBe("pending");

    const back = await comeBack(await google.visit(authUrl));
    expect(back.status).toBe(302);
    expect(back.location).toBe(
      `${BACK}&success=true&provider=google-mail&connectionId=${connectionId}`,
    );
    expect(back.headers.get("referrer-policy")).toBe("no-referrer");
    const { data } = await system.call("GET", `/connections/${connectionId}`);
    expect(data).toMatchObject({
      name: "Support mail",
      status: "active",
      externalAccountId: "ada@example.com",
    });
  });

  it("keeps what the token answer and the way back bring", async () => {
    const id = await connect("salesforce", salesforce);
    const { data } = await system.call("GET", `/connections/${id}`);
    expect(data).toMatchObject({ externalAccountId: "00D000000000001EAA" });
    const other = await connect("quickbooks", quickbooks);
    expect((await system.call("GET", `/connections/${other}`)).data).toMatchObject({
      externalAccountId: "4620816365",
    });
    const fields = await system.database.any(sql.type(z.object({ fields: z.string() }))`
      select fields::text as "fields" from integrations.connections order by provider
    `);
    expect(fields.map(({ fields: text }): unknown => JSON.parse(text))).toEqual([
      expect.objectContaining({ realmId: "4620816365" }),
      expect.objectContaining({ instanceUrl: "https://acme.my.salesforce.com" }),
    ]);
  });
});

/** All rows of what attempts may change, as text. */
async function snapshot(database: Queryable = system.database): Promise<unknown> {
  return database.any(sql.type(z.object({ row: z.string() }))`
    select to_jsonb(connection)::text as "row"
    from integrations.connections as connection
    order by id
  `);
}

describe("a callback is not believed", () => {
  it("whose state nobody has begun, or which is another provider's", async () => {
    const { authUrl, connectionId } = await begin("google-mail", { redirectUrl: BACK });
    const honest = await google.visit(authUrl);
    const before = await snapshot();
    const callback = `${system.origin}/api/v1/connections/google-mail/callback`;
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
    expect(await snapshot()).toEqual(before);
    expect((await comeBack(honest)).status).toBe(302);
  });

  it("whose code, issuer or field is another one", async () => {
    const { authUrl } = await begin("google-mail");
    const honest = await google.visit(authUrl);
    const before = await snapshot();
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
    expect(await snapshot()).toEqual(before);
    const realm = await quickbooks.visit((await begin("quickbooks")).authUrl);
    realm.searchParams.set("realmId", "1/../../v3");
    expect(await comeBack(realm)).toMatchObject({
      status: 400,
      body: { error: { details: { error: "invalid_field" } } },
    });
    expect(quickbooks.requests.filter(({ method }) => method === "POST")).toEqual([]);
    // None of them has spoilt the attempt.
    expect((await comeBack(honest)).status).toBe(200);
  });

  it("which says that the person has refused: it ends nothing", async () => {
    const { authUrl, connectionId } = await begin("google-mail", { redirectUrl: BACK });
    google.consent = "deny";
    const refused = await comeBack(await google.visit(authUrl));
    expect(refused.status).toBe(302);
    expect(refused.location).toBe(`${BACK}&error=access_denied&connectionId=${connectionId}`);
    expect(await statusOf(connectionId)).toBe("pending");
    google.consent = "allow";
    expect((await comeBack(await google.visit(authUrl))).location).toContain("success=true");
  });

  it("that comes again: the answer is the same and nothing changes, also when it comes at the same time", async () => {
    const { authUrl, connectionId } = await begin("google-mail", { redirectUrl: BACK });
    const honest = await google.visit(authUrl);
    const together = await Promise.all([1, 2, 3, 4].map(() => comeBack(honest)));
    for (const { location } of together) {
      expect(location).toContain(`success=true&provider=google-mail&connectionId=${connectionId}`);
    }
    const before = await snapshot();
    expect((await comeBack(honest)).location).toContain("success=true");
    expect(await snapshot()).toEqual(before);
    // The code was shown once: a provider takes its tokens back when it sees one twice.
    expect(google.reuses()).toBe(0);
    expect(google.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  it("that comes late: its attempt was abandoned, replaced, or its connection is gone", async () => {
    const late = await begin("google-mail", { redirectUrl: BACK });
    const lateBack = await google.visit(late.authUrl);
    await system.database.query(sql.type(z.object({}))`
      update integrations.authorization_attempts set expires_at = now() - interval '1 second'
    `);
    // Locked rows are skipped by the sweep, which would abandon them between the two looks.
    await system.database.transaction(async (transaction) => {
      await transaction.query(sql.type(z.object({}))`
        select from integrations.authorization_attempts for update
      `);
      const before = await snapshot(transaction);
      const back = await comeBack(lateBack);
      expect(back.location).toBe(`${BACK}&error=attempt_over&connectionId=${late.connectionId}`);
      expect(await snapshot(transaction)).toEqual(before);
    });

    const gone = await begin("google-mail", { redirectUrl: BACK });
    const goneBack = await google.visit(gone.authUrl);
    expect(await system.call("DELETE", `/connections/${gone.connectionId}`)).toMatchObject({
      status: 200,
    });
    expect((await comeBack(goneBack)).status).toBe(404);
    expect(google.requests.filter(({ method }) => method === "POST")).toEqual([]);
  });

  it("counts also when the connection has become active meanwhile", async () => {
    const id = await connect("google-mail", google);
    const setStatus = (status: string) =>
      system.database.query(sql.type(z.object({}))`
        update integrations.connections set status = ${status} where id = ${id}
      `);
    await setStatus("error");
    const { authUrl } = await begin("google-mail");
    await setStatus("active");
    expect(await comeBack(await google.visit(authUrl))).toMatchObject({
      status: 200,
      body: { data: { status: "active" } },
    });
    expect(await findRevocation()).toBeNull();
    expect(google.isRevoked(google.given.at(-1)?.accessToken ?? "")).toBe(false);
  });

  it("sends nobody anywhere but to the redirectUrl of its attempt", async () => {
    const { authUrl } = await begin("google-mail");
    const honest = await google.visit(authUrl);
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
      const answer = await askAuthUrl("salesforce", { redirectUrl });
      expect({ redirectUrl, ...answer }).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: ["redirectUrl"] }] },
      });
    }
  });
});

describe("auth-url", () => {
  it("is refused while the provider is connected, and offered anew when it is not any more", async () => {
    const id = await connect("google-mail", google);
    expect(await askAuthUrl("google-mail")).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: { connectionId: id } },
    });
    for (const status of ["error", "expired", "disconnected"]) {
      await system.database.query(sql.type(z.object({}))`
        update integrations.connections set status = ${status} where id = ${id}
      `);
      const again = await begin("google-mail");
      expect(again).toMatchObject({ connectionId: id, isNew: false });
      expect(await statusOf(id)).toBe(status);
      expect(await comeBack(await google.visit(again.authUrl))).toMatchObject({ status: 200 });
      expect(await statusOf(id)).toBe("active");
    }
  });

  it("of a connection takes the place of its earlier one", async () => {
    const id = await connect("google-mail", google);
    await system.database.query(sql.type(z.object({}))`
      update integrations.connections set status = 'error' where id = ${id}
    `);
    const first = await google.visit((await begin("google-mail")).authUrl);
    const second = await google.visit((await begin("google-mail")).authUrl);
    expect(await comeBack(first)).toMatchObject({
      status: 400,
      body: { error: { details: { error: "attempt_over" } } },
    });
    expect(await comeBack(second)).toMatchObject({ status: 200 });
  });

  it("names what is missing or wrong", async () => {
    const message = async (provider: string) => (await askAuthUrl(provider)).error?.message;
    expect(await askAuthUrl("nobody")).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
    expect(await askAuthUrl("resend")).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST" },
    });
    expect(await message("resend")).toMatch(/API key/);
    expect(await askAuthUrl("slack")).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST" },
    });
    expect(await message("slack")).toMatch(
      /NANGO_SECRET_KEY.*SLACK_CLIENT_ID.*SLACK_CLIENT_SECRET/,
    );
    expect(await message("hubspot")).toMatch(
      /NANGO_SECRET_KEY, or HUBSPOT_CLIENT_SECRET are not set/,
    );
    for (const connectionName of ["", "x".repeat(256)]) {
      expect(await askAuthUrl("google-mail", { connectionName })).toMatchObject({ status: 400 });
    }
    expect(await snapshot()).toEqual([]);
  });

  it("is bounded: so many attempts of a company are open at the same time, and no other company minds", async () => {
    const first = await begin("google-mail");
    await system.database.query(sql.type(z.object({}))`
      insert into integrations.connections (id, company_id, name, provider, status)
      select 'conn_' || number, ${system.acme.id}, 'Other', 'salesforce', 'pending'
      from generate_series(1, 99) as number
    `);
    await system.database.query(sql.type(z.object({}))`
      insert into integrations.authorization_attempts (
        id, company_id, connection_id, provider, way, token_hash, callback_url, begun_by, expires_at
      )
      select gen_random_uuid(), company_id, id, provider, 'embedded', sha256(id::bytea), 'https://a.example',
        '{"type": "user", "id": "1"}', now() + interval '1 hour'
      from integrations.connections
      where id <> ${first.connectionId}
    `);
    const refused = await askAuthUrl("google-mail");
    expect(refused).toMatchObject({ status: 429, error: { code: "RATE_LIMITED" } });
    expect(refused.headers.get("retry-after")).not.toBeNull();
    expect(await askAuthUrl("google-mail", {}, system.globex)).toMatchObject({ status: 200 });
  });

  it("and the events of an authorization stand in the audit log under who began it", async () => {
    const id = await connect("google-mail", google);
    const events = await waitFor(async () => {
      const { data } = await system.call("GET", `/audit-logs?resourceId=${id}`);
      const found = auditEvents
        .parse(data)
        .map(({ action, actor }) => ({ action, actor: actor.type }));
      return found.length < 2 ? null : found.toReversed();
    });
    expect(events).toEqual([
      { action: "connection.created", actor: "api_key" },
      { action: "connection.authorized", actor: "api_key" },
    ]);
  });
});

describe("a provider that cannot be understood", () => {
  it.each(TROUBLES)(
    "%s: the person is told so, nothing hangs and a later try succeeds",
    async (trouble) => {
      const { authUrl, connectionId } = await begin("google-mail", { redirectUrl: BACK });
      google.trouble = trouble;
      const back = await comeBack(await google.visit(authUrl));
      expect(back.location).toBe(`${BACK}&error=provider_unreachable&connectionId=${connectionId}`);
      expect(await statusOf(connectionId)).toBe("pending");
      google.trouble = null;
      expect((await comeBack(await google.visit(authUrl))).location).toContain("success=true");
    },
  );
});

it("an account that the provider does not name is not connected; the attempt stays open", async () => {
  const { authUrl, connectionId } = await begin("docusign");
  expect(await comeBack(await quickbooks.visit(authUrl))).toMatchObject({
    body: { error: { details: { error: "provider_unreachable" } } },
  });
  expect(await statusOf(connectionId)).toBe("pending");
  const state = await system.database.oneFirst(sql.type(z.object({ state: z.string() }))`
    select state from integrations.authorization_attempts where connection_id = ${connectionId}
  `);
  expect(state).toBe("open");
});

it("callbacks are limited by address", async () => {
  const gateway = await system.startGateway({ trustedProxies: 1 });
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

it("neither tokens nor the client's secret stand in answers, rows or the audit log", async () => {
  const id = await connect("google-mail", google);
  const { text } = await system.call("GET", `/connections/${id}`);
  const rows = await system.database.any(sql.type(z.object({ row: z.string() }))`
    select to_jsonb(connection)::text as "row" from integrations.connections as connection
    union all
    select to_jsonb(attempt)::text from integrations.authorization_attempts as attempt
    union all
    select payload::text from integrations.outbox
  `);
  const seen = text + rows.map(({ row }) => row).join();
  const { accessToken = "", refreshToken = "" } = google.given.at(-1) ?? {};
  const verifier = google.requests
    .map(({ body }) => new URLSearchParams(body).get("code_verifier"))
    .find((value) => value !== null);
  for (const secret of [accessToken, refreshToken, CLIENT.clientSecret, verifier]) {
    expect(secret).toEqual(expect.stringMatching(/.{10,}/));
    expect(seen.includes(secret ?? "")).toBe(false);
  }
});

describe("a connection that is deleted", () => {
  it("is revoked at the provider; one that cannot be is gone all the same and is tried again", async () => {
    const first = await connect("salesforce", salesforce);
    const given = salesforce.given.at(-1)?.refreshToken ?? "";
    salesforce.trouble = "server-error";
    expect(await system.call("DELETE", `/connections/${first}`)).toMatchObject({
      status: 200,
      data: { deleted: true },
    });
    expect(await statusOf(first)).toBe("disconnected");
    const failed = await waitFor(async () => {
      const row = await findRevocation();
      return row?.lastError === null ? null : row;
    });
    expect(failed).toMatchObject({ tries: 1, waits: true });
    expect(failed?.lastError).toMatch(/Salesforce cannot be asked/);
    expect(salesforce.isRevoked(given)).toBe(false);

    salesforce.trouble = null;
    await system.database.query(sql.type(z.object({}))`
      update integrations.revocations set next_try_at = now()
    `);
    // Whoever queues another one wakes those who take them back.
    const second = await connect("quickbooks", quickbooks);
    await system.call("DELETE", `/connections/${second}`);
    await waitFor(async () => expect(await findRevocation()).toBeNull());
    expect(salesforce.isRevoked(given)).toBe(true);
    expect(quickbooks.isRevoked(quickbooks.given.at(-1)?.refreshToken ?? "")).toBe(true);
  });
});

function findRevocation() {
  const row = z.object({ tries: z.number(), lastError: z.string().nullable(), waits: z.boolean() });
  return system.database.maybeOne(sql.type(row)`
    select tries, last_error as "lastError", next_try_at > now() + interval '10 seconds' as "waits"
    from integrations.revocations
    order by created_at
    limit 1
  `);
}
