import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { z } from "zod";
import { connected, startConnectedSystem } from "../support/connected-system.ts";
import type { ConnectedSystem } from "../support/connected-system.ts";

let system: ConnectedSystem["system"];
let double: ConnectedSystem["double"];
let connect: ConnectedSystem["connect"];
let connectRillet: ConnectedSystem["connectRillet"];
let get: ConnectedSystem["get"];
let countConnections: ConnectedSystem["countConnections"];
let stop: ConnectedSystem["stop"];
beforeAll(async () => {
  ({ system, double, connect, connectRillet, get, countConnections, stop } =
    await startConnectedSystem());
});
afterAll(() => stop?.());

const UNKNOWN = "conn_01jzsa0pjtf9d8m9d8m9d8m9d8";

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
    ["airwallex", { clientId: "client" }, "acct_of_airwallex"],
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
    const given = { apiKey: "good-first-of-acct_2", clientId: "client" };
    const { id } = connected.parse((await connect("airwallex", given)).data);
    const body = { apiKey: "good-second-of-acct_2", connectionId: id, name: "Renamed" };
    const answer = await connect("airwallex", body);
    expect(answer.status).toBe(200);
    expect(connected.parse(answer.data)).toMatchObject({ id, externalAccountId: "acct_2" });
    expect(await get(id)).toMatchObject({ name: "Renamed", status: "active" });
    const login = double.requests.findLast(({ path }) => path.endsWith("/login"));
    expect(login?.headers).toMatchObject({
      "x-client-id": "client",
      "x-api-key": "good-second-of-acct_2",
    });
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

  it("stores no connection that the audit log could not be told of", async () => {
    const { database } = system;
    const without = sql.type(z.object({}));
    await database.query(without`
      alter table integrations.outbox
        add constraint outbox_refused check (payload::text not like '%connection.created%') not valid
    `);
    try {
      const before = await countConnections();
      const finance = { name: "n", provider: "finance", externalAccountId: "acct_untold" };
      for (const answer of [
        await connect("rillet", { apiKey: "good-untold" }),
        await system.call("POST", "/connections", { body: finance }),
      ]) {
        expect(answer.status).toBeGreaterThanOrEqual(400);
      }
      expect(await countConnections()).toBe(before);
    } finally {
      await database.query(without`
        alter table integrations.outbox drop constraint outbox_refused
      `);
    }
  });
});
