import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { startAccountHarness } from "./support/account-harness.ts";
import type { AccountHarness, Connected, Replica } from "./support/account-harness.ts";

const CLIENT = { clientId: "our-id_1.x~", clientSecret: "our-secret_1.x~" };
const BASIC = `Basic ${Buffer.from("our-id_1.x~:our-secret_1.x~").toString("base64")}`;
const BEARER = "Bearer at-1";

let server: HttpDouble;
/** Slack says with status 200 that it failed. */
let body: unknown;
let world: AccountHarness;
let replica: Replica;

beforeAll(async () => {
  server = await startHttpDouble(() => ({ body }));
  const settings = { ...CLIENT, baseUrl: server.url, oauthBaseUrl: server.url };
  const ids = ["stripe", "slack", "github", "docusign", "google-mail"];
  world = await startAccountHarness({ providers: new Map(ids.map((id) => [id, settings])) });
  replica = await world.start();
});
afterAll(async () => {
  await world?.close();
  await server?.close();
});
beforeEach(() => {
  server.requests.length = 0;
  body = { ok: true };
});

const remove = ({ connectionId, identity }: Connected) =>
  replica.connections.deleteConnection({ connectionId }, { identity });

/** What is still to be taken back of a connection. */
function queuedOf({ connectionId }: Connected) {
  const row = z.object({ tries: z.number(), lastError: z.string().nullable() });
  return world.harness.database.any(sql.type(row)`
    select tries, last_error as "lastError"
    from integrations.revocations where connection_id = ${connectionId}
  `);
}

it.each([
  [
    "stripe",
    "POST /oauth/deauthorize",
    "Bearer our-secret_1.x~",
    "client_id=our-id_1.x%7E&stripe_user_id=acct_1",
  ],
  ["slack", "POST /api/auth.revoke", BEARER, ""],
  ["github", "DELETE /applications/our-id_1.x~/grant", BASIC, '{"access_token":"at-1"}'],
  ["docusign", "POST /oauth/revoke", BASIC, expect.stringContaining("token=rt-1")],
  ["google-mail", "POST /revoke", undefined, expect.stringContaining("token=rt-1")],
])("takes access of %s back as its manifest says", async (provider, call, authorization, sent) => {
  const connection = await world.connect({
    provider,
    credentials: { accessToken: "at-1", refreshToken: "rt-1" },
    fields: { accountId: "acct_1" },
    externalAccountId: `${provider}-account`,
  });
  await remove(connection);
  await waitFor(async () => (await queuedOf(connection)).length === 0);
  const shown = server.requests.map(({ method, path, headers, body: text }) => ({
    call: `${method} ${path}`,
    authorization: headers.authorization,
    sent: text,
  }));
  expect(shown).toContainEqual({ call, authorization, sent });
});

it("a provider that says no with status 200 is asked again", async () => {
  body = { ok: false, error: "ratelimited" };
  const credentials = { accessToken: "at-1" };
  const connection = await world.connect({ provider: "slack", credentials });
  await remove(connection);
  await waitFor(async () => ((await queuedOf(connection))[0]?.lastError ?? null) !== null);
  expect(await queuedOf(connection)).toEqual([
    { tries: 1, lastError: expect.stringContaining("ratelimited") },
  ]);
});

it("access of a provider that the catalog does not know any more is kept, and told of", async () => {
  body = { ok: false, error: "ratelimited" };
  const credentials = { accessToken: "at-1" };
  const connection = await world.connect({ provider: "slack", credentials });
  await remove(connection);
  await waitFor(async () => ((await queuedOf(connection))[0]?.lastError ?? null) !== null);
  await world.harness.database.query(sql.type(z.object({}))`
    update integrations.revocations
    set provider = 'gone', tries = 30, next_try_at = now()
    where connection_id = ${connection.connectionId}
  `);
  // Ending another one wakes those who take access back.
  await remove(await world.connect({ provider: "google-mail", credentials }));
  await waitFor(async () => ((await queuedOf(connection))[0]?.tries ?? 0) > 30);
  await waitFor(() =>
    Promise.resolve(world.harness.logged().includes("does not know the provider")),
  );
  expect(await queuedOf(connection)).toHaveLength(1);
});
