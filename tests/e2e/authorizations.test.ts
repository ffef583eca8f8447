import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { BACK, CLIENT, comeBack, startAuthorizing } from "../support/authorizing-system.ts";
import type { AuthorizingSystem } from "../support/authorizing-system.ts";

let authorizing: AuthorizingSystem<"google-mail" | "salesforce" | "quickbooks">;

beforeAll(async () => {
  authorizing = await startAuthorizing(
    {
      "google-mail": { issuer: "https://accounts.google.com" },
      salesforce: {
        expiresInSeconds: null,
        tokenMembers: { instance_url: "https://acme.my.salesforce.com", token_type: "Bearer" },
      },
      quickbooks: {
        clientAuth: "client_secret_basic",
        callbackParams: { realmId: "4620816365" },
      },
    },
    { more: { hubspot: { clientId: "half" } } },
  );
});
afterAll(() => authorizing?.stop());
beforeEach(() => authorizing.reset());

const auditEvents = z.array(
  z.looseObject({ action: z.string(), actor: z.looseObject({ type: z.string() }) }),
);
describe("the way through a provider's own page", () => {
  it("ends with an active connection and the person at redirectUrl", async () => {
    const { connectionId, authUrl, isNew, provider } = await authorizing.begin("google-mail", {
      redirectUrl: BACK,
      connectionName: "Support mail",
    });
    expect({ isNew, provider }).toEqual({ isNew: true, provider: "google-mail" });
    const asked = new URL(authUrl);
    expect(asked.origin).toBe(authorizing.serverOf("google-mail").url);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      response_type: "code",
      client_id: CLIENT.clientId,
      code_challenge_method: "S256",
      redirect_uri: `${authorizing.system.origin}/api/v1/connections/google-mail/callback`,
    });
    expect(await authorizing.statusOf(connectionId)).toBe("pending");

    const back = await comeBack(await authorizing.serverOf("google-mail").visit(authUrl));
    expect(back.status).toBe(302);
    expect(back.location).toBe(
      `${BACK}&success=true&provider=google-mail&connectionId=${connectionId}`,
    );
    expect(back.headers.get("referrer-policy")).toBe("no-referrer");
    const { data } = await authorizing.system.call("GET", `/connections/${connectionId}`);
    expect(data).toMatchObject({
      name: "Support mail",
      status: "active",
      externalAccountId: "ada@example.com",
    });
  });

  it("keeps what the token answer and the way back bring", async () => {
    const id = await authorizing.connect("salesforce");
    const { data } = await authorizing.system.call("GET", `/connections/${id}`);
    expect(data).toMatchObject({ externalAccountId: "00D000000000001EAA" });
    const other = await authorizing.connect("quickbooks");
    expect((await authorizing.system.call("GET", `/connections/${other}`)).data).toMatchObject({
      externalAccountId: "4620816365",
    });
    const fields = await authorizing.system.database.any(sql.type(z.object({ fields: z.string() }))`
      select fields::text as "fields" from integrations.connections order by provider
    `);
    expect(fields.map(({ fields: text }): unknown => JSON.parse(text))).toEqual([
      expect.objectContaining({ realmId: "4620816365" }),
      expect.objectContaining({ instanceUrl: "https://acme.my.salesforce.com" }),
    ]);
  });
});

describe("auth-url", () => {
  it("is refused while the provider is connected, and offered anew when it is not any more", async () => {
    const id = await authorizing.connect("google-mail");
    expect(await authorizing.askAuthUrl("google-mail")).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: { connectionId: id } },
    });
    for (const status of ["error", "expired", "disconnected"]) {
      await authorizing.system.database.query(sql.type(z.object({}))`
        update integrations.connections set status = ${status} where id = ${id}
      `);
      const again = await authorizing.begin("google-mail");
      expect(again).toMatchObject({ connectionId: id, isNew: false });
      expect(await authorizing.statusOf(id)).toBe(status);
      expect(
        await comeBack(await authorizing.serverOf("google-mail").visit(again.authUrl)),
      ).toMatchObject({ status: 200 });
      expect(await authorizing.statusOf(id)).toBe("active");
    }
  });

  it("of a connection takes the place of its earlier one", async () => {
    const id = await authorizing.connect("google-mail");
    await authorizing.system.database.query(sql.type(z.object({}))`
      update integrations.connections set status = 'error' where id = ${id}
    `);
    const first = await authorizing
      .serverOf("google-mail")
      .visit((await authorizing.begin("google-mail")).authUrl);
    const second = await authorizing
      .serverOf("google-mail")
      .visit((await authorizing.begin("google-mail")).authUrl);
    expect(await comeBack(first)).toMatchObject({
      status: 400,
      body: { error: { details: { error: "attempt_over" } } },
    });
    expect(await comeBack(second)).toMatchObject({ status: 200 });
  });

  it("names what is missing or wrong", async () => {
    const message = async (provider: string) =>
      (await authorizing.askAuthUrl(provider)).error?.message;
    expect(await authorizing.askAuthUrl("nobody")).toMatchObject({
      status: 404,
      error: { code: "NOT_FOUND" },
    });
    expect(await authorizing.askAuthUrl("resend")).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST" },
    });
    expect(await message("resend")).toMatch(/API key/);
    expect(await authorizing.askAuthUrl("slack")).toMatchObject({
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
      expect(await authorizing.askAuthUrl("google-mail", { connectionName })).toMatchObject({
        status: 400,
      });
    }
    expect(await authorizing.snapshot()).toEqual([]);
  });

  it("is bounded: so many attempts of a company are open at the same time, and no other company minds", async () => {
    const first = await authorizing.begin("google-mail");
    await authorizing.system.database.query(sql.type(z.object({}))`
      insert into integrations.connections (id, company_id, name, provider, status)
      select 'conn_' || number, ${authorizing.system.acme.id}, 'Other', 'salesforce', 'pending'
      from generate_series(1, 99) as number
    `);
    await authorizing.system.database.query(sql.type(z.object({}))`
      insert into integrations.authorization_attempts (
        id, company_id, connection_id, provider, way, token_hash, callback_url, begun_by, expires_at
      )
      select gen_random_uuid(), company_id, id, provider, 'embedded', sha256(id::bytea), 'https://a.example',
        '{"type": "user", "id": "1"}', now() + interval '1 hour'
      from integrations.connections
      where id <> ${first.connectionId}
    `);
    const refused = await authorizing.askAuthUrl("google-mail");
    expect(refused).toMatchObject({ status: 429, error: { code: "RATE_LIMITED" } });
    expect(refused.headers.get("retry-after")).not.toBeNull();
    expect(
      await authorizing.askAuthUrl("google-mail", {}, authorizing.system.globex),
    ).toMatchObject({ status: 200 });
  });

  it("and the events of an authorization stand in the audit log under who began it", async () => {
    const id = await authorizing.connect("google-mail");
    const events = await waitFor(async () => {
      const { data } = await authorizing.system.call("GET", `/audit-logs?resourceId=${id}`);
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

it("neither tokens nor the client's secret stand in answers, rows or the audit log", async () => {
  const id = await authorizing.connect("google-mail");
  const { text } = await authorizing.system.call("GET", `/connections/${id}`);
  const rows = await authorizing.system.database.any(sql.type(z.object({ row: z.string() }))`
    select to_jsonb(connection)::text as "row" from integrations.connections as connection
    union all
    select to_jsonb(attempt)::text from integrations.authorization_attempts as attempt
    union all
    select payload::text from integrations.outbox
  `);
  const seen = text + rows.map(({ row }) => row).join();
  const { accessToken = "", refreshToken = "" } =
    authorizing.serverOf("google-mail").given.at(-1) ?? {};
  const verifier = authorizing
    .serverOf("google-mail")
    .requests.map(({ body }) => new URLSearchParams(body).get("code_verifier"))
    .find((value) => value !== null);
  for (const secret of [accessToken, refreshToken, CLIENT.clientSecret, verifier]) {
    expect(secret).toEqual(expect.stringMatching(/.{10,}/));
    expect(seen.includes(secret ?? "")).toBe(false);
  }
});
