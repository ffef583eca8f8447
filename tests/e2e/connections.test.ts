import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { z } from "zod";
import type { Answer } from "../support/api-client.ts";
import { connected, listed, startConnectedSystem } from "../support/connected-system.ts";
import type { ConnectedSystem } from "../support/connected-system.ts";
import { dumpTables } from "../support/dump-tables.ts";

let system: ConnectedSystem["system"];
let double: ConnectedSystem["double"];
let logged: ConnectedSystem["logged"];
let connect: ConnectedSystem["connect"];
let connectRillet: ConnectedSystem["connectRillet"];
let get: ConnectedSystem["get"];
let countConnections: ConnectedSystem["countConnections"];
let deleteAll: ConnectedSystem["deleteAll"];
let setStatus: ConnectedSystem["setStatus"];
let addAuthorized: ConnectedSystem["addAuthorized"];
let stop: ConnectedSystem["stop"];
beforeAll(async () => {
  ({
    system,
    double,
    logged,
    connect,
    connectRillet,
    get,
    countConnections,
    deleteAll,
    setStatus,
    addAuthorized,
    stop,
  } = await startConnectedSystem());
});
afterAll(() => stop?.());

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
    [
      "an account with a line break",
      { name: "n", provider: "finance", externalAccountId: "a\r\nb" },
      "externalAccountId",
    ],
    [
      "an account with a control character",
      { name: "n", provider: "finance", externalAccountId: "a\u0007" },
      "externalAccountId",
    ],
    [
      "an account with a character that can't be seen",
      { name: "n", provider: "finance", externalAccountId: "acct\u200b_1" },
      "externalAccountId",
    ],
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

  it("answers 400 for a bank without the broker, whatever other settings there are", async () => {
    const before = await countConnections();
    for (const answer of [
      await post({ name: "Bank", provider: "plaid" }),
      await system.call("GET", "/connections/plaid/auth-url"),
    ]) {
      expect(answer).toMatchObject({
        status: 400,
        error: {
          code: "BAD_REQUEST",
          message: "Plaid is not set up here: NANGO_SECRET_KEY is not set.",
          details: [{ path: ["provider"], message: expect.any(String) }],
        },
      });
    }
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
