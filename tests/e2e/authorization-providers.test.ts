import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { z } from "zod";
import { comeBack, startAuthorizing } from "../support/authorizing-system.ts";
import type { AuthorizingSystem } from "../support/authorizing-system.ts";

const ACCOUNT_ID = "0f1a5e6c-7d0b-4c33-9c3e-0123456789ab";
const BASE_URI = "https://eu.docusign.net";
/** What a person's accounts at DocuSign are; tests change it. */
let accounts: Record<string, unknown>[];

let authorizing: AuthorizingSystem<"slack" | "docusign" | "netsuite">;

beforeAll(async () => {
  authorizing = await startAuthorizing({
    slack: {
      pkce: false,
      clientAuth: "client_secret_basic",
      errorsAre200: true,
      tokenForm: ({ access_token }) => ({
        ok: true,
        access_token,
        token_type: "bot",
        scope: "chat:write",
        bot_user_id: "U0BOT",
        team: { id: "T0TEAM", name: "Acme" },
        authed_user: { id: "U0ADA", scope: "", access_token: "xoxp-of-the-person" },
      }),
    },
    docusign: {
      clientAuth: "client_secret_basic",
      userInfo: () => ({ sub: "a-person", name: "Ada", accounts }),
    },
    netsuite: {
      clientAuth: "client_secret_basic",
      callbackParams: { company: "1234567_SB1", role: "3", entity: "12" },
    },
  });
});
afterAll(() => authorizing?.stop());
beforeEach(async () => {
  accounts = [
    {
      account_id: "11111111-2222-3333-4444-555555555555",
      is_default: false,
      base_uri: "https://na4.docusign.net",
    },
    { account_id: ACCOUNT_ID, account_name: "Acme", is_default: true, base_uri: BASE_URI },
  ];
  await authorizing.reset();
});

const stored = z.object({ fields: z.string(), accountId: z.string().nullable() });

async function storedOf(connectionId: string) {
  const { fields, accountId } = await authorizing.system.database.one(sql.type(stored)`
    select fields::text as "fields", external_account_id as "accountId"
    from integrations.connections
    where id = ${connectionId}
  `);
  const parsed: unknown = JSON.parse(fields);
  return { fields: parsed, accountId };
}

function tokenRequestsOf(provider: "slack" | "docusign" | "netsuite") {
  return authorizing.serverOf(provider).requests.filter(({ method }) => method === "POST");
}

describe("Slack", () => {
  it("gives the bot's token; the workspace stands inside of the answer", async () => {
    const { authUrl } = await authorizing.begin("slack");
    const asked = new URL(authUrl).searchParams;
    // It separates scopes by commas, and an application with a secret takes no proof key.
    expect(asked.get("scope")).toContain("chat:write,chat:write.public");
    expect(asked.has("code_challenge")).toBe(false);

    const connectionId = await authorizing.connect("slack");
    expect(await storedOf(connectionId)).toEqual({
      fields: { teamId: "T0TEAM", teamName: "Acme", botUserId: "U0BOT" },
      accountId: "T0TEAM",
    });
  });

  it("says with status 200 what it refuses", async () => {
    const { authUrl, connectionId } = await authorizing.begin("slack");
    const server = authorizing.serverOf("slack");
    server.failures.push({ status: 400, error: "invalid_code" });
    expect(await comeBack(await server.visit(authUrl))).toMatchObject({
      status: 400,
      body: { error: { code: "BAD_REQUEST", details: { error: "invalid_code" } } },
    });
    expect(await authorizing.statusOf(connectionId)).toBe("pending");
    expect((await comeBack(await server.visit(authUrl))).status).toBe(200);
  });
});

describe("DocuSign", () => {
  it("is asked for the person's default account and where it lives", async () => {
    const connectionId = await authorizing.connect("docusign");
    expect(await storedOf(connectionId)).toEqual({
      fields: { accountId: ACCOUNT_ID, baseUri: BASE_URI, accountName: "Acme" },
      accountId: ACCOUNT_ID,
    });
    const [asked] = authorizing
      .serverOf("docusign")
      .requests.filter(({ path }) => path.startsWith("/oauth/userinfo"));
    expect(asked?.headers.authorization).toBe(
      `Bearer ${authorizing.serverOf("docusign").given.at(-1)?.accessToken}`,
    );
  });

  it("leads nowhere else: a base address of another site is refused", async () => {
    accounts = [
      { account_id: ACCOUNT_ID, is_default: true, base_uri: "https://docusign.net.evil.example" },
    ];
    const { authUrl, connectionId } = await authorizing.begin("docusign");
    expect(await comeBack(await authorizing.serverOf("docusign").visit(authUrl))).toMatchObject({
      status: 400,
      body: { error: { details: { error: "invalid_field" } } },
    });
    expect(await authorizing.statusOf(connectionId)).toBe("pending");
  });

  it("whose answer names no default account connects nothing", async () => {
    accounts = [];
    const { authUrl, connectionId } = await authorizing.begin("docusign");
    expect(await comeBack(await authorizing.serverOf("docusign").visit(authUrl))).toMatchObject({
      status: 502,
      body: { error: { details: { error: "provider_unreachable" } } },
    });
    expect(await authorizing.statusOf(connectionId)).toBe("pending");
  });
});

describe("NetSuite", () => {
  it("names the account on the way back, and is asked for the token there", async () => {
    const connectionId = await authorizing.connect("netsuite");
    expect(await storedOf(connectionId)).toEqual({
      fields: { accountId: "1234567_SB1" },
      accountId: "1234567_SB1",
    });
    expect(tokenRequestsOf("netsuite").map(({ path }) => path)).toEqual([
      "/services/rest/auth/oauth2/v1/token",
    ]);
  });

  it("is not asked without an account, or for one of another form", async () => {
    const { authUrl } = await authorizing.begin("netsuite");
    const honest = await authorizing.serverOf("netsuite").visit(authUrl);
    for (const company of [null, "", "evil.example/", "a:b@c", "x".repeat(64)]) {
      const back = new URL(honest);
      if (company === null) back.searchParams.delete("company");
      else back.searchParams.set("company", company);
      expect(await comeBack(back)).toMatchObject({
        status: 400,
        body: { error: { details: { error: "invalid_field" } } },
      });
    }
    expect(tokenRequestsOf("netsuite")).toEqual([]);
    expect((await comeBack(honest)).status).toBe(200);
  });

  it("takes an account that the caller knows before, of its own form only", async () => {
    for (const accountId of ["", "evil.example/", "1234567.", "-1", "a b", "x".repeat(64)]) {
      expect(await authorizing.askAuthUrl("netsuite", { accountId })).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: ["accountId"] }] },
      });
      const body = { name: "ERP", provider: "netsuite", metadata: { accountId } };
      expect(await authorizing.system.call("POST", "/connections", { body })).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: ["metadata", "accountId"] }] },
      });
    }
    expect(await authorizing.snapshot()).toEqual([]);

    const { authUrl, connectionId } = await authorizing.begin("netsuite", { accountId: "7654321" });
    const back = await authorizing.serverOf("netsuite").visit(authUrl);
    back.searchParams.delete("company");
    expect((await comeBack(back)).status).toBe(200);
    expect(await storedOf(connectionId)).toMatchObject({ accountId: "7654321" });
  });
});
