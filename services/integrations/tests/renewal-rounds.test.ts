import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { startOAuthDouble, waitFor } from "@workflow/testkit";
import type { OAuthDouble } from "@workflow/testkit";
import { z } from "zod";
import { CALLER_SCOPES, startAccountHarness } from "./support/account-harness.ts";
import type { AccountHarness, Connected } from "./support/account-harness.ts";
import { newIdentity } from "./support/harness.ts";

const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret" };
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let oauth: OAuthDouble;
let world: AccountHarness;

beforeAll(async () => {
  oauth = await startOAuthDouble(CLIENT);
  const settings = { ...CLIENT, oauthBaseUrl: oauth.url, baseUrl: oauth.url };
  world = await startAccountHarness({ providers: new Map([["google-mail", settings]]) });
});
afterAll(async () => {
  await world?.close();
  await oauth?.close();
});

/** Waits until all of them are, which pauses between rounds would make last for minutes. */
async function whenRenewed(connections: readonly Connected[]): Promise<void> {
  const left = [...connections];
  const allAre = async () => {
    for (let next = left[0]; next !== undefined; next = left[0]) {
      if ((await world.stateOf(next)).version < 2) return false;
      left.shift();
    }
    return true;
  };
  await waitFor(allAre, { timeoutMs: 90_000 });
}

it("of one company as many are renewed as are due, without a pause in between", async () => {
  const identity = newIdentity(CALLER_SCOPES);
  const connections: Connected[] = [];
  for (let n = 0; n < 100; n += 1) {
    const { accessToken, refreshToken } = oauth.grant();
    const credentials = { accessToken, refreshToken };
    const account = { provider: "google-mail", credentials, endsInMs: 3 * MINUTE_MS, identity };
    connections.push(await world.connect(account));
  }
  // A replica looks around as soon as it begins.
  await world.start();
  await whenRenewed(connections);
  expect(oauth.requests).toHaveLength(connections.length);
  expect(oauth.reuses()).toBe(0);
});

it("what has nothing to be renewed by rests, also when it ends in months only", async () => {
  const { accessToken } = oauth.grant();
  const account = { provider: "google-mail", credentials: { accessToken }, endsInMs: 60 * DAY_MS };
  const connection = await world.connect(account);
  await world.harness.database.query(sql.type(z.object({}))`
    update integrations.connections set status = 'error', error_code = 'not_renewed'
    where id = ${connection.connectionId}
  `);
  await world.start();
  const pauseMs = await waitFor(async () => (await world.stateOf(connection)).pauseMs);
  expect(pauseMs).toBeGreaterThan(DAY_MS / 2);
  expect(await world.stateOf(connection)).toMatchObject({ status: "error", version: 1 });
});
