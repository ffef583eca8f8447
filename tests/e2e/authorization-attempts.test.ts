import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { z } from "zod";
import { comeBack, startAuthorizing } from "../support/authorizing-system.ts";
import type { AuthorizingSystem } from "../support/authorizing-system.ts";
import { bySession, signIn } from "../support/people.ts";

const nothing = z.object({});

let authorizing: AuthorizingSystem<"google-mail" | "salesforce">;

/** What a page of the system sends in the owner's name. */
let ownPage: Readonly<Record<string, string>>;

beforeAll(async () => {
  authorizing = await startAuthorizing({
    "google-mail": { issuer: "https://accounts.google.com" },
    salesforce: {},
  });
  const { system } = authorizing;
  ownPage = bySession(system, await signIn(system, system.acme.owner)).headers;
});
afterAll(() => authorizing?.stop());
beforeEach(() => authorizing.reset());

/** A connection that has to be authorized again. */
async function makeExpired(): Promise<string> {
  const id = await authorizing.connect("google-mail");
  await authorizing.system.database.query(sql.type(nothing)`
    update integrations.connections set status = 'expired' where id = ${id}
  `);
  return id;
}

/** Open attempts of other connections of the company. */
async function makeOthers(count: number): Promise<void> {
  const { database, acme } = authorizing.system;
  await database.query(sql.type(nothing)`
    insert into integrations.connections (id, company_id, name, provider, status)
    select 'conn_' || number, ${acme.id}, 'Other', 'salesforce', 'pending'
    from generate_series(1, ${count}::integer) as number
  `);
  await database.query(sql.type(nothing)`
    insert into integrations.authorization_attempts (
      id, company_id, connection_id, provider, way, token_hash, callback_url, begun_by, expires_at
    )
    select gen_random_uuid(), company_id, id, provider, 'embedded', sha256(id::bytea),
      'https://a.example', '{"type": "user", "id": "1"}', now() + interval '1 hour'
    from integrations.connections
    where provider = 'salesforce'
  `);
}

describe("the attempts of a connection", () => {
  it("replace each other, of which no more than a few are kept", async () => {
    const id = await makeExpired();
    const backs: URL[] = [];
    for (let begun = 0; begun < 12; begun += 1) {
      const { authUrl } = await authorizing.begin("google-mail");
      backs.push(await authorizing.serverOf("google-mail").visit(authUrl));
    }
    const counted = z.object({ count: z.number() });
    const { count } = await authorizing.system.database.one(sql.type(counted)`
      select count(*)::integer as "count"
      from integrations.authorization_attempts
      where connection_id = ${id}
    `);
    expect(count).toBeLessThanOrEqual(7);
    const [first = "", ...others] = backs;
    const [last = "", beforeLast = ""] = others.toReversed();
    expect((await comeBack(first)).status).toBe(404);
    expect(await comeBack(beforeLast)).toMatchObject({
      status: 400,
      body: { error: { details: { error: "attempt_over" } } },
    });
    expect((await comeBack(last)).status).toBe(200);
  });

  it("count once: the one that would be replaced is not in the way of the next", async () => {
    await makeExpired();
    await authorizing.begin("google-mail");
    await makeOthers(99);
    expect(await authorizing.askAuthUrl("google-mail")).toMatchObject({ status: 200 });
    expect(await authorizing.askAuthUrl("salesforce")).toMatchObject({
      status: 429,
      error: { code: "RATE_LIMITED", details: { limit: "openAuthorizations", max: 100 } },
    });
  });

  it("are asked about so often; then the answer is that a new one has to begin", async () => {
    const { authUrl } = await authorizing.begin("google-mail");
    const back = await authorizing.serverOf("google-mail").visit(authUrl);
    await authorizing.system.database.query(sql.type(nothing)`
      update integrations.authorization_attempts set tries = 20
    `);
    const answers = await Promise.all([1, 2, 3].map(() => comeBack(back)));
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { details: { error: "too_many_tries" } } },
      });
    }
    expect((await authorizing.begin("google-mail")).isNew).toBe(true);
  });
});

describe("the parameters of redirectUrl", () => {
  it("that are the outcome's are replaced; all others stay", async () => {
    const mine = "https://app.example/?error=old&success=maybe&provider=x&connectionId=y&tab=1";
    const server = authorizing.serverOf("google-mail");
    const { authUrl, connectionId } = await authorizing.begin("google-mail", { redirectUrl: mine });
    server.consent = "deny";
    const refused = await comeBack(await server.visit(authUrl));
    expect(refused.location).toBe(
      `https://app.example/?tab=1&error=access_denied&connectionId=${connectionId}`,
    );
    server.consent = "allow";
    const connected = await comeBack(await server.visit(authUrl));
    expect(connected.location).toBe(
      `https://app.example/?tab=1&success=true&provider=google-mail&connectionId=${connectionId}`,
    );
  });
});

describe("auth-url with a session", () => {
  const path = "/connections/google-mail/auth-url";

  it.each([
    ["another site's link", { "sec-fetch-site": "cross-site" }, /Sec-Fetch-Site/],
    ["a link on a sister domain", { "sec-fetch-site": "same-site" }, /Sec-Fetch-Site/],
    ["a script of another site", { origin: "https://evil.example" }, /Origin/],
    ["a page without an origin", { origin: "null" }, /Origin/],
  ])("is refused to %s, and nothing has begun", async (_what, more, reason) => {
    const { system } = authorizing;
    const { origin: _own, ...headers } = ownPage;
    const options = { key: null, headers: { ...headers, ...more } };
    expect(await system.call("GET", path, options)).toMatchObject({
      status: 403,
      error: { code: "FORBIDDEN", message: expect.stringMatching(reason) },
    });
    const url = `${system.origin}/api/v1${path}`;
    const head = await fetch(url, { method: "HEAD", headers: options.headers });
    expect(head.status).toBe(405);
    expect(await authorizing.snapshot()).toEqual([]);
  });

  it.each([
    ["a page of this server", { "sec-fetch-site": "same-origin" }],
    ["the address bar", { "sec-fetch-site": "none" }],
    ["a program that says nothing", {}],
  ])("is answered to %s", async (_what, more) => {
    const { system } = authorizing;
    const { origin: _own, ...headers } = ownPage;
    const options = { key: null, headers: { ...headers, ...more } };
    expect(await system.call("GET", path, options)).toMatchObject({ status: 200 });
  });

  it("answers no HEAD, which would begin what nobody gets to see", async () => {
    const { system } = authorizing;
    const head = await system.call("HEAD", path);
    expect(head.status).toBe(405);
    expect(head.headers.get("allow")).toBe("GET, OPTIONS");
    expect(await authorizing.snapshot()).toEqual([]);
  });

  it("leaves API keys alone, which no browser sends along", async () => {
    const headers = { "sec-fetch-site": "cross-site", origin: "https://app.example" };
    expect(await authorizing.system.call("GET", path, { headers })).toMatchObject({ status: 200 });
  });

  it("does not touch what only reads", async () => {
    const { system } = authorizing;
    const more = { "sec-fetch-site": "cross-site", origin: "https://app.example" };
    const options = { key: null, headers: { ...ownPage, ...more } };
    expect(await system.call("GET", "/connections", options)).toMatchObject({ status: 200 });
  });
});
