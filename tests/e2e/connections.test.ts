import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import type { ProviderSettings } from "@workflow/service";
import { startOAuthDouble } from "@workflow/testkit";
import type { OAuthDouble } from "@workflow/testkit";
import { z } from "zod";
import type { Answer } from "../support/api-client.ts";
import { dumpTables } from "../support/dump-tables.ts";
import { startProviderDouble } from "../support/provider-double.ts";
import type { ProviderDouble } from "../support/provider-double.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Company, WholeSystem } from "../support/whole-system.ts";

const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
/** A connection as the contract has it, and errorMessage; not one field more. */
const listed = z.strictObject({
  id: z.string().regex(/^conn_[0-9a-z]{26}$/),
  name: z.string(),
  provider: z.string(),
  status: z.string(),
  externalAccountId: z.string().nullable(),
  errorMessage: z.string().nullable(),
  lastSyncedAt: timestamp.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});
const single = listed.extend({ metadata: z.record(z.string(), z.unknown()) });
const connected = listed.extend({ message: z.string().min(1) });
const UNKNOWN = "conn_01jzsa0pjtf9d8m9d8m9d8m9d8";

let system: WholeSystem;
let double: ProviderDouble;
let oauth: OAuthDouble;
const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret" };
const logged: string[] = [];
beforeAll(async () => {
  double = await startProviderDouble();
  oauth = await startOAuthDouble({ ...CLIENT, issuer: "https://accounts.google.com" });
  const google = { ...CLIENT, oauthBaseUrl: oauth.url, baseUrl: `${double.url}/google-mail` };
  const providers = new Map<string, ProviderSettings>(double.settings);
  system = await startWholeSystem({
    providers: providers.set("google-mail", google),
    log: { write: (line) => void logged.push(line) },
  });
});
afterAll(async () => {
  await system.stop();
  await double.close();
  await oauth.close();
});

function connect(provider: string, body: unknown, company?: Company): Promise<Answer> {
  const key = company === undefined ? {} : { key: company.key };
  return system.call("POST", `/connections/${provider}/api-key`, { ...key, body });
}

/** A new connection of a provider that takes a key and nothing else. */
async function connectRillet(apiKey = "good-key"): Promise<string> {
  const answer = await connect("rillet", { apiKey });
  expect(answer.status).toBe(201);
  return connected.parse(answer.data).id;
}

async function get(id: string) {
  const answer = await system.call("GET", `/connections/${id}`);
  expect(answer.status).toBe(200);
  return single.parse(answer.data);
}

async function countConnections(company = system.acme): Promise<number> {
  const { count } = await system.database.one(sql.type(z.object({ count: z.number() }))`
    select count(*) as count from integrations.connections where company_id = ${company.id}
  `);
  return count;
}

async function deleteAll(company: Company): Promise<void> {
  await system.database.query(sql.type(z.object({}))`
    delete from integrations.connections where company_id = ${company.id}
  `);
}

/** What no call of this test can bring about. */
async function setStatus(id: string, status: string): Promise<void> {
  await system.database.query(sql.type(z.object({}))`
    update integrations.connections set status = ${status} where id = ${id}
  `);
}

/** A connection that a person would have authorized. */
async function addAuthorized(provider: string, status: string): Promise<string> {
  const id = await connectRillet("good-authorized");
  await system.database.query(sql.type(z.object({}))`
    update integrations.connections
    set provider = ${provider}, status = ${status}, external_account_id = null
    where id = ${id}
  `);
  return id;
}

/** Provider, body, and the field that is wrong in it. */
const WRONG_KEYS: readonly [string, unknown, string][] = [
  ["rillet", {}, "apiKey"],
  ["rillet", { apiKey: 5 }, "apiKey"],
  ["rillet", { apiKey: "" }, "apiKey"],
  ["rillet", { apiKey: "k".repeat(8_193) }, "apiKey"],
  ["rillet", { apiKey: "good\r\nx: hush" }, "apiKey"],
  ["rillet", { apiKey: "good\u0007" }, "apiKey"],
  ["rillet", { apiKey: "schlüssel" }, "apiKey"],
  ["rillet", { apiKey: "good", clientId: "c" }, "clientId"],
  ["rillet", { apiKey: "good", domain: "a.example" }, "domain"],
  ["rillet", { apiKey: "good", environment: "sandbox" }, "environment"],
  ["rillet", { apiKey: "good", name: "n".repeat(256) }, "name"],
  ["airwallex", { apiKey: "good" }, "clientId"],
  ["airwallex", { apiKey: "good", clientId: "" }, "clientId"],
  ["airwallex", { apiKey: "good", clientId: "c\nd" }, "clientId"],
  ["airwallex", { apiKey: "good", clientId: "c", domain: "a.example" }, "domain"],
  ["odoo", { apiKey: "good" }, "domain"],
  ["odoo", { apiKey: "good", domain: "https://a.example" }, "domain"],
  ["odoo", { apiKey: "good", domain: "a.example/path" }, "domain"],
  ["odoo", { apiKey: "good", domain: "user@a.example" }, "domain"],
  ["odoo", { apiKey: "good", domain: "a.example?x" }, "domain"],
  ["odoo", { apiKey: "good", domain: "a".repeat(254) }, "domain"],
  ["avalara", { apiKey: "good", environment: "sandbox" }, "accountId"],
  ["avalara", { apiKey: "good", accountId: "1" }, "environment"],
  ["avalara", { apiKey: "good", accountId: "1", environment: "test" }, "environment"],
];

describe("POST /connections/{provider}/api-key", () => {
  it.each([
    ["rillet", {}, "org_1"],
    ["resend", {}, null],
    ["sendgrid", {}, null],
    ["airwallex", { clientId: "client", externalAccountId: "acct_1" }, "acct_1"],
    ["odoo", { domain: "Example.odoo.com" }, "example.odoo.com"],
    ["avalara", { accountId: "2000", environment: "sandbox", companyCode: "ACME" }, "2000"],
  ])("connects %s at once when the provider accepts the key", async (provider, more, account) => {
    const answer = await connect(provider, { apiKey: "good-hush", name: "Mine", ...more });
    expect(answer.status).toBe(201);
    const { message, ...connection } = connected.parse(answer.data);
    expect(connection).toMatchObject({
      name: "Mine",
      provider,
      status: "active",
      externalAccountId: account,
      errorMessage: null,
    });
    expect(await get(connection.id)).toEqual({ ...connection, metadata: {} });
    const request = double.requests.at(-1);
    expect(request?.path).toMatch(new RegExp(`^/${provider}/`));
    expect(answer.text + message).not.toContain("hush");
  });

  it("names a connection after its provider unless it is given a name", async () => {
    expect(await get(await connectRillet())).toMatchObject({ name: "Rillet" });
  });

  it.each([["bad-key"], ["echo-hush"]])(
    "answers 400 and stores nothing when the provider refuses %s, which it does not repeat",
    async (apiKey) => {
      const before = await countConnections();
      const answer = await connect("rillet", { apiKey });
      expect(answer).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: ["apiKey"] }] },
      });
      expect(answer.text).not.toContain("hush");
      expect(await countConnections()).toBe(before);
    },
  );

  it("answers 400 when the keys can't be exchanged for a token, or nobody knows them", async () => {
    expect(await connect("airwallex", { apiKey: "bad-key", clientId: "c" })).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST" },
    });
    const avalara = { accountId: "2000", environment: "sandbox" };
    expect(await connect("avalara", { apiKey: "unknown-key", ...avalara })).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST" },
    });
  });

  it.each(["down", "busy", "cut", "html", "broken", "huge", "away"])(
    "answers 502 UPSTREAM_ERROR and stores nothing when the provider's answer is %s",
    async (kind) => {
      const before = await countConnections();
      const answer = await connect("rillet", { apiKey: `${kind}-hush` });
      expect(answer).toMatchObject({ status: 502, error: { code: "UPSTREAM_ERROR" } });
      expect(answer.text).not.toContain("hush");
      expect(await countConnections()).toBe(before);
    },
  );

  it("replaces the keys of a connection with 200, and fields that are not given stay", async () => {
    const given = { apiKey: "good-first", clientId: "client", externalAccountId: "acct_2" };
    const { id } = connected.parse((await connect("airwallex", given)).data);
    const body = { apiKey: "good-second", connectionId: id, name: "Renamed" };
    const answer = await connect("airwallex", body);
    expect(answer.status).toBe(200);
    expect(connected.parse(answer.data)).toMatchObject({ id, externalAccountId: "acct_2" });
    expect(await get(id)).toMatchObject({ name: "Renamed", status: "active" });
    const login = double.requests.findLast(({ path }) => path.endsWith("/login"));
    expect(login?.headers).toMatchObject({ "x-client-id": "client", "x-api-key": "good-second" });
  });

  it.each([
    ["refuses", "bad-other", 400],
    ["does not answer for", "down-other", 502],
  ])("keeps the old keys when the provider %s the new ones", async (_what, apiKey, status) => {
    const id = await connectRillet("good-old");
    const before = await get(id);
    expect(await connect("rillet", { apiKey, connectionId: id })).toMatchObject({ status });
    expect(await get(id)).toEqual(before);
    await system.call("POST", `/connections/${id}/verify`);
    expect(double.requests.at(-1)?.headers.authorization).toBe("Bearer good-old");
  });

  it("brings a connection in error back by good keys", async () => {
    const id = await connectRillet("good-lost");
    double.revoked.add("good-lost");
    await system.call("POST", `/connections/${id}/verify`);
    expect(await get(id)).toMatchObject({ status: "error" });
    await connect("rillet", { apiKey: "good-found", connectionId: id });
    expect(await get(id)).toMatchObject({ status: "active", errorMessage: null });
  });

  it.each(
    WRONG_KEYS.map(
      ([provider, body, field]) =>
        [`${provider} with ${JSON.stringify(body).slice(0, 60)}`, provider, body, field] as const,
    ),
  )("answers 400 that names the field: %s", async (_what, provider, body, field) => {
    const asked = double.requests.length;
    const answer = await connect(provider, body);
    expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    expect(answer.error?.details).toContainEqual({ path: [field], message: expect.any(String) });
    expect(answer.text).not.toContain("hush");
    expect(double.requests).toHaveLength(asked);
  });

  it("takes a key of 8,192 characters", async () => {
    const apiKey = `good-${"k".repeat(8_187)}`;
    expect(await connect("rillet", { apiKey })).toMatchObject({ status: 201 });
  });

  it("answers 400 for providers without API keys, 404 for unknown ones", async () => {
    for (const provider of ["stripe", "google-mail", "plaid", "finance"]) {
      expect(await connect(provider, { apiKey: "good" })).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST" },
      });
    }
    expect(await connect("nobody", { apiKey: "good" })).toMatchObject({ status: 404 });
  });

  it("answers 404 for a connection that is not there, 400 for one of another provider", async () => {
    const theirs = connected.parse(
      (await connect("rillet", { apiKey: "good" }, system.globex)).data,
    );
    for (const connectionId of [UNKNOWN, "no-id", theirs.id]) {
      const answer = await connect("rillet", { apiKey: "good-new", connectionId });
      expect(answer).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
    }
    const body = { apiKey: "good", connectionId: await connectRillet() };
    expect(await connect("resend", body)).toMatchObject({
      status: 400,
      error: { details: [{ path: ["connectionId"] }] },
    });
  });
});

describe("POST /connections", () => {
  const post = (body: unknown) => system.call("POST", "/connections", { body });

  it("makes an own application's connection active at once", async () => {
    const body = { name: "Ledger", provider: "finance", externalAccountId: "acct_fin" };
    const answer = await post({ ...body, metadata: { team: "treasury", "10": [1, { a: null }] } });
    expect(answer).toMatchObject({
      status: 201,
      data: { name: "Ledger", provider: "finance", status: "active", oauthUrl: null },
    });
    const { id } = z.object({ id: z.string(), message: z.string() }).parse(answer.data);
    expect(await get(id)).toMatchObject({
      externalAccountId: "acct_fin",
      metadata: { team: "treasury", "10": [1, { a: null }] },
    });
  });

  it.each<[string, unknown, string]>([
    ["no name", { provider: "finance", externalAccountId: "a" }, "name"],
    ["an empty name", { name: "", provider: "finance", externalAccountId: "a" }, "name"],
    ["a long name", { name: "n".repeat(256), provider: "finance", externalAccountId: "a" }, "name"],
    ["no provider", { name: "n" }, "provider"],
    ["an unknown provider", { name: "n", provider: "nobody" }, "provider"],
    ["a provider with API keys", { name: "n", provider: "rillet" }, "provider"],
    ["no account", { name: "n", provider: "finance" }, "externalAccountId"],
    ["metadata that is a list", { name: "n", provider: "finance", metadata: [] }, "metadata"],
    [
      "metadata of 17 KiB",
      {
        name: "n",
        provider: "finance",
        externalAccountId: "a",
        metadata: { a: "x".repeat(17_000) },
      },
      "metadata",
    ],
  ])("answers 400 that names the field for %s", async (_what, body, field) => {
    const before = await countConnections();
    const answer = await post(body);
    expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    expect(answer.error?.details).toContainEqual({ path: [field], message: expect.any(String) });
    expect(await countConnections()).toBe(before);
  });

  it("answers 400 that says which setting is missing where there is no way to a provider", async () => {
    const before = await countConnections();
    const answer = await post({ name: "Shop", provider: "stripe" });
    expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    expect(answer.error?.message).toMatch(/NANGO_SECRET_KEY/);
    expect(await countConnections()).toBe(before);
  });
});

describe("GET /connections", () => {
  const list = (query: string) =>
    system.call("GET", `/connections${query}`, { key: system.globex.key });
  const idsOf = (answer: Answer) =>
    z
      .array(listed)
      .parse(answer.data)
      .map(({ id }) => id);
  let ids: string[];
  beforeEach(async () => {
    await deleteAll(system.globex);
    ids = [];
    for (const provider of ["rillet", "resend", "rillet", "rillet"]) {
      const answer = await connect(provider, { apiKey: "good" }, system.globex);
      ids.unshift(connected.parse(answer.data).id);
    }
    await setStatus(ids[0] ?? "", "abandoned");
    await setStatus(ids[1] ?? "", "error");
  });

  it("shows the newest first, without abandoned ones, by pages of a signed cursor", async () => {
    const whole = await list("");
    expect(idsOf(whole)).toEqual(ids.slice(1));
    expect(whole.meta).toEqual({ cursor: null, hasMore: false });
    const first = await list("?limit=2");
    expect(idsOf(first)).toEqual(ids.slice(1, 3));
    expect(first.meta).toMatchObject({ hasMore: true });
    const cursor = encodeURIComponent(first.meta?.cursor ?? "");
    const second = await list(`?limit=2&cursor=${cursor}`);
    expect(idsOf(second)).toEqual(ids.slice(3));
    expect(second.meta).toEqual({ cursor: null, hasMore: false });
    expect(await list(`?limit=2&status=error&cursor=${cursor}`)).toMatchObject({ status: 400 });
    const elsewhere = await system.call("GET", `/connections?limit=2&cursor=${cursor}`);
    expect(elsewhere).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
  });

  it("filters by provider and status, abandoned ones among them", async () => {
    expect(idsOf(await list("?provider=resend"))).toEqual([ids[2]]);
    expect(idsOf(await list("?status=error"))).toEqual([ids[1]]);
    expect(idsOf(await list("?status=abandoned"))).toEqual([ids[0]]);
    expect(idsOf(await list("?provider=rillet&status=active"))).toEqual([ids[3]]);
  });

  it.each(["?provider=nobody", "?status=fine", "?limit=0", "?limit=101", "?cursor=x"])(
    "answers 400 for %s",
    async (query) => {
      expect(await list(query)).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    },
  );

  it("shows 20 unless it is told a number", async () => {
    await Promise.all(
      Array.from({ length: 20 }, () => connect("rillet", { apiKey: "good" }, system.globex)),
    );
    const answer = await list("");
    expect(idsOf(answer)).toHaveLength(20);
    expect(answer.meta?.hasMore).toBe(true);
  });
});

describe("POST /connections/{id}/verify", () => {
  const verify = (id: string) => system.call("POST", `/connections/${id}/verify`);

  it("says healthy and active when the provider accepts the keys, also after an error", async () => {
    const id = await connectRillet();
    await setStatus(id, "error");
    const answer = await verify(id);
    expect(answer).toMatchObject({
      status: 200,
      data: {
        healthy: true,
        connectionId: id,
        provider: "rillet",
        status: "active",
        externalAccountId: "org_1",
        error: null,
      },
    });
    expect(timestamp.parse(Object(answer.data).checkedAt)).toBeTruthy();
    expect(await get(id)).toMatchObject({ status: "active", errorMessage: null });
  });

  it("says unhealthy and error when the provider refuses them, in its words without the key", async () => {
    const id = await connectRillet("good-revoked-hush");
    double.revoked.add("good-revoked-hush");
    const answer = await verify(id);
    expect(answer).toMatchObject({ status: 200, data: { healthy: false, status: "error" } });
    const { errorMessage } = await get(id);
    expect(Object(answer.data).error).toBe(errorMessage);
    expect(errorMessage).toContain("••••");
    expect(answer.text).not.toContain("hush");
  });

  it("changes no status when the provider does not answer", async () => {
    const id = await connectRillet("good-then-down");
    const before = await get(id);
    const baseUrl = double.settings.get("rillet");
    if (baseUrl === undefined) throw new Error("Rillet has no base URL.");
    const { baseUrl: url } = baseUrl;
    baseUrl.baseUrl = "http://127.0.0.1:1";
    try {
      const answer = await verify(id);
      expect(answer).toMatchObject({
        status: 200,
        data: { healthy: false, status: "active", error: expect.any(String) },
      });
    } finally {
      baseUrl.baseUrl = url;
    }
    expect(await get(id)).toEqual(before);
  });

  it("tells to complete OAuth as long as the connection is pending", async () => {
    const id = await addAuthorized("stripe", "pending");
    const answer = await verify(id);
    expect(answer).toMatchObject({
      status: 200,
      data: { healthy: false, status: "pending", error: expect.stringMatching(/complete OAuth/) },
    });
    expect(await get(id)).toMatchObject({ status: "pending" });
  });

  it.each(["disconnected", "abandoned"])("says unhealthy for a %s one", async (status) => {
    const id = await addAuthorized("stripe", status);
    expect(await verify(id)).toMatchObject({ status: 200, data: { healthy: false, status } });
  });
});

describe("POST /connections/{id}/refresh", () => {
  const refresh = (id: string) => system.call("POST", `/connections/${id}/refresh`);

  it("answers when the account was last reached, for keys that are good", async () => {
    const id = await connectRillet();
    const answer = await refresh(id);
    expect(answer).toMatchObject({ status: 200, data: { id, message: expect.any(String) } });
    const { lastSyncedAt } = await get(id);
    expect(Object(answer.data).lastSyncedAt).toBe(lastSyncedAt);
    expect(lastSyncedAt).not.toBeNull();
  });

  it("answers 500 and puts the connection into error when it fails", async () => {
    const id = await connectRillet("good-to-fail-hush");
    double.revoked.add("good-to-fail-hush");
    const answer = await refresh(id);
    expect(answer).toMatchObject({ status: 500, error: { code: "INTERNAL_ERROR" } });
    expect(await get(id)).toMatchObject({
      status: "error",
      errorMessage: expect.stringContaining("••••"),
    });
  });

  it("answers 400 for one that is not connected", async () => {
    const id = await addAuthorized("stripe", "pending");
    expect(await refresh(id)).toMatchObject({
      status: 400,
      error: { details: { currentStatus: "pending" } },
    });
  });
});

describe("DELETE /connections/{id}", () => {
  const remove = (id: string) => system.call("DELETE", `/connections/${id}`);

  it("removes a connection with keys for good", async () => {
    const id = await connectRillet();
    expect(await remove(id)).toMatchObject({ status: 200, data: { deleted: true } });
    expect(await system.call("GET", `/connections/${id}`)).toMatchObject({ status: 404 });
    expect(await remove(id)).toMatchObject({ status: 404 });
  });

  it("removes an attempt that was never completed", async () => {
    const id = await addAuthorized("stripe", "pending");
    expect(await remove(id)).toMatchObject({ status: 200, data: { deleted: true } });
    expect(await system.call("GET", `/connections/${id}`)).toMatchObject({ status: 404 });
  });

  it.each(["active", "error", "expired"])(
    "keeps an authorized one that is %s as disconnected, without credentials; twice is no error",
    async (status) => {
      const id = await addAuthorized("slack", status);
      expect(await remove(id)).toMatchObject({ status: 200, data: { deleted: true } });
      expect(await get(id)).toMatchObject({ status: "disconnected" });
      const stored = await system.database.one(sql.type(z.object({ kept: z.boolean() }))`
        select sealed_credentials is not null as kept
        from integrations.connections where id = ${id}
      `);
      expect(stored.kept).toBe(false);
      expect(await remove(id)).toMatchObject({ status: 200, data: { deleted: true } });
    },
  );
});

describe("an account that a person authorizes", () => {
  const begun = z.strictObject({
    id: z.string(),
    name: z.literal("Mail"),
    provider: z.literal("google-mail"),
    status: z.literal("pending"),
    oauthUrl: z.url(),
    message: z.string().min(1),
  });

  /** Begins a connection and completes it as a person would. */
  async function authorize(): Promise<string> {
    const body = { name: "Mail", provider: "google-mail", metadata: { team: "sales" } };
    const answer = await system.call("POST", "/connections", { body });
    expect(answer.status).toBe(201);
    const { id, oauthUrl } = begun.parse(answer.data);
    expect(await get(id)).toMatchObject({ status: "pending", metadata: { team: "sales" } });
    const back = await fetch(await oauth.visit(oauthUrl), { redirect: "manual" });
    expect([back.status, await back.text()]).toEqual([200, expect.stringContaining("active")]);
    expect(await get(id)).toMatchObject({ status: "active" });
    return id;
  }

  const verify = (id: string) => system.call("POST", `/connections/${id}/verify`);
  const refresh = (id: string) => system.call("POST", `/connections/${id}/refresh`);
  /** The token that the provider saw last. */
  const tokenSeen = () => double.requests.at(-1)?.headers.authorization?.slice("Bearer ".length);

  it("is pending until then, gets other tokens by refresh, and before it is called unhealthy", async () => {
    const id = await authorize();
    await verify(id);
    const first = tokenSeen();
    expect(await refresh(id)).toMatchObject({ status: 200, data: { id } });
    expect(await verify(id)).toMatchObject({ data: { healthy: true, status: "active" } });
    const second = tokenSeen();
    expect(second).not.toBe(first);
    double.revoked.add(second ?? "");
    expect(await verify(id)).toMatchObject({ data: { healthy: true, status: "active" } });
    expect(tokenSeen()).not.toBe(second);
  });

  it("is in error when its tokens are refused and can't be renewed", async () => {
    const id = await authorize();
    await verify(id);
    double.revoked.add(tokenSeen() ?? "");
    oauth.failures.push({ status: 400, error: "invalid_grant" });
    expect(await verify(id)).toMatchObject({
      status: 200,
      data: { healthy: false, status: "error", error: expect.any(String) },
    });
  });

  it("is in error after a refresh that fails, which answers 500", async () => {
    const id = await authorize();
    oauth.failures.push({ status: 400, error: "invalid_grant" });
    expect(await refresh(id)).toMatchObject({ status: 500, error: { code: "INTERNAL_ERROR" } });
    expect(await get(id)).toMatchObject({ status: "error", errorMessage: expect.any(String) });
  });
});

describe("GET /connections/{id}/plaid/accounts", () => {
  const accounts = (id: string) => system.call("GET", `/connections/${id}/plaid/accounts`);

  it("answers 400 for a provider without banks, and for a bank that is not connected", async () => {
    expect(await accounts(await connectRillet())).toMatchObject({ status: 400 });
    expect(await accounts(await addAuthorized("plaid", "pending"))).toMatchObject({ status: 400 });
  });
});

it("a company has at most 1,000 live connections, however many are asked for at once", async () => {
  const { globex } = system;
  await deleteAll(globex);
  await system.database.query(sql.type(z.object({}))`
    insert into integrations.connections (id, company_id, name, provider, status)
    select 'conn_' || lpad(n::text, 26, '0'), ${globex.id}, 'n', 'rillet',
      case when n <= 998 then 'pending' else 'disconnected' end
    from generate_series(1, 2100) as n
  `);
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => connect("rillet", { apiKey: "good" }, globex)),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([201, 201, 400, 400, 400, 400]);
  const refused = answers.find(({ status }) => status === 400);
  expect(refused?.error).toMatchObject({
    code: "BAD_REQUEST",
    message: expect.stringMatching(/1000 connections/),
    details: { limit: "connections", max: 1_000 },
  });
  // Of those that have ended the newest 1,000 are kept.
  expect(await countConnections(globex)).toBe(2_000);
  await deleteAll(globex);
});

it("credentials are in no table, log line or event, in no form", async () => {
  const secret = "good-hush-4711-of-the-canary";
  const { id } = connected.parse(
    (await connect("airwallex", { apiKey: secret, clientId: "client-of-the-canary" })).data,
  );
  await system.call("POST", `/connections/${id}/verify`);
  await system.call("POST", `/connections/${id}/refresh`);
  await connect("airwallex", { apiKey: "echo-hush-4711-of-the-canary", connectionId: id });
  double.revoked.add(secret);
  await system.call("POST", `/connections/${id}/refresh`);
  await system.call("DELETE", `/connections/${id}`);
  const outbox = await system.database.any(sql.type(z.object({ payload: z.string() }))`
    select payload::text as payload from integrations.outbox
  `);
  const texts = [
    ...Object.values(await dumpTables(system.database)),
    ...logged,
    ...outbox.map(({ payload }) => payload),
  ].join("\n");
  for (const text of [secret, "client-of-the-canary", "echo-hush-4711-of-the-canary"]) {
    const bytes = Buffer.from(text);
    for (const form of ["utf8", "hex", "base64"] as const) {
      expect(texts).not.toContain(bytes.toString(form));
    }
  }
});

it("needs connections:read to look and connections:write to change", async () => {
  const reader = await system.createKey(system.acme, ["connections:read"]);
  const writer = await system.createKey(system.acme, ["connections:write"]);
  const id = await connectRillet();
  expect(await system.call("GET", "/connections", { key: writer })).toMatchObject({ status: 403 });
  const path = `/connections/${id}/verify`;
  expect(await system.call("POST", path, { key: reader })).toMatchObject({ status: 403 });
  expect(await system.call("GET", "/connections", { key: null })).toMatchObject({ status: 401 });
});
