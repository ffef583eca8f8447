import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { startOAuthDouble, waitFor } from "@workflow/testkit";
import type { OAuthDouble } from "@workflow/testkit";
import { CALLER_SCOPES, startAccountHarness } from "./support/account-harness.ts";
import type { AccountHarness, Connected } from "./support/account-harness.ts";
import { newIdentity } from "./support/harness.ts";

const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret" };
const MINUTE_MS = 60_000;

let google: OAuthDouble;
/** Its tokens end as soon as they are given. */
let salesforce: OAuthDouble;
let world: AccountHarness;

beforeAll(async () => {
  google = await startOAuthDouble(CLIENT);
  salesforce = await startOAuthDouble({ ...CLIENT, expiresInSeconds: 0 });
  const settings = ({ url }: OAuthDouble) => ({ ...CLIENT, oauthBaseUrl: url, baseUrl: url });
  world = await startAccountHarness({
    providers: new Map([
      ["google-mail", settings(google)],
      ["salesforce", settings(salesforce)],
    ]),
  });
});
afterAll(async () => {
  await world?.close();
  for (const double of [google, salesforce]) await double?.close();
});

beforeEach(() => {
  google.requests.length = 0;
});

function connect(provider: string, double: OAuthDouble, identity = newIdentity(CALLER_SCOPES)) {
  const { accessToken, refreshToken } = double.grant();
  const credentials = { accessToken, refreshToken };
  return world.connect({ provider, credentials, endsInMs: 3 * MINUTE_MS, identity });
}

/** Waits less than a few pauses between looks take together. */
const renewed = (connected: Connected) =>
  waitFor(async () => (await world.stateOf(connected)).version > 1, { timeoutMs: 90_000 });

it("of one company as many are renewed as are due, without a pause in between", async () => {
  const identity = newIdentity(CALLER_SCOPES);
  const connections: Connected[] = [];
  for (let n = 0; n < 40; n += 1) connections.push(await connect("google-mail", google, identity));
  // A replica looks around as soon as it begins.
  await world.start();
  for (const connection of connections) await renewed(connection);
  expect(google.requests).toHaveLength(connections.length);
  expect(google.reuses()).toBe(0);
});

it("a provider whose tokens end at once is not asked without end", async () => {
  const connection = await connect("salesforce", salesforce);
  await world.start();
  await renewed(connection);
  // Whoever goes on without a pause gets no further than to this one.
  const other = await connect("google-mail", google);
  await world.start();
  await renewed(other);
  expect((await world.stateOf(connection)).version).toBeLessThan(10);
  expect(salesforce.requests.length).toBeLessThan(10);
});
