import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { startHttpDouble, startNangoDouble, startOAuthDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble, NangoDouble, OAuthDouble } from "@workflow/testkit";
import { z } from "zod";
import { outputOf, runsOf, startActionsHarness, stepCall } from "./support/actions-harness.ts";
import type { ActionsClient, ActionsHarness } from "./support/actions-harness.ts";

const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret" };
const MINUTE_MS = 60_000;
const nothing = z.object({});

/** The provider's API. */
let api: HttpDouble;
let oauth: OAuthDouble;
let nango: NangoDouble;
let harness: ActionsHarness;
let replicas: ActionsClient[];
/** Of what single tests start for themselves. */
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  api = await startHttpDouble(() => ({ body: { ok: true, labels: [], channels: [] } }));
  oauth = await startOAuthDouble(CLIENT);
  nango = await startNangoDouble(["slack"]);
  harness = await startActionsHarness();
  replicas = await Promise.all([start(), start(), start()]);
});
afterAll(async () => {
  await harness?.close();
  for (const close of closers) await close();
  for (const double of [api, oauth, nango]) await double?.close();
});
beforeEach(() => {
  oauth.requests.length = 0;
  oauth.failures.length = 0;
});

function start(): Promise<ActionsClient> {
  const providers = new Map([
    ["google-mail", { ...CLIENT, oauthBaseUrl: oauth.url, baseUrl: api.url }],
    ["slack", { baseUrl: api.url }],
  ]);
  return harness.start({ providers });
}

/** A connection of a consent that was given before, with an access token that ends at this time. */
async function connect(endsInMs: number) {
  const { accessToken, refreshToken } = oauth.grant();
  const identity = runsOf();
  const { companyId } = identity;
  const connectionId = await harness.connect(companyId, {
    provider: "google-mail",
    credentials: { accessToken, refreshToken },
    expiresAt: new Date(Date.now() + endsInMs),
  });
  // They were given an hour ago.
  await harness.database.query(sql.type(nothing)`
    update integrations.connections
    set credentials_changed_at = now() - interval '1 hour'
    where id = ${connectionId}
  `);
  return { identity, companyId, connectionId, accessToken };
}

function listLabels(client: ActionsClient | undefined, identity: ReturnType<typeof runsOf>) {
  if (client === undefined) throw new Error("There are three replicas.");
  return client.executeAction(stepCall({ action: "google-mail.listLabels" }), { identity });
}

const stateRow = z.object({
  status: z.string(),
  failures: z.number(),
  pauseMs: z.number().nullable(),
  endsInMs: z.number(),
  version: z.number(),
});

function stateOf({ connectionId }: { connectionId: string }) {
  return harness.database.one(sql.type(stateRow)`
    select
      status,
      renewal_failures as "failures",
      (extract(epoch from renew_after - now()) * 1000)::float8 as "pauseMs",
      (extract(epoch from credentials_expire_at - now()) * 1000)::float8 as "endsInMs",
      credentials_version as "version"
    from integrations.connections
    where id = ${connectionId}
  `);
}

it("credentials that have ended are renewed once, however many steps on however many replicas want them", async () => {
  const connection = await connect(-1_000);
  api.requests.length = 0;
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, n) => listLabels(replicas[n % 3], connection.identity)),
  );
  answers.forEach(outputOf);
  const shown = new Set(api.requests.map(({ headers }) => headers.authorization));
  expect([...shown]).toEqual([`Bearer ${oauth.given.at(-1)?.accessToken}`]);
  expect(oauth.requests).toHaveLength(1);
  expect(oauth.reuses()).toBe(0);
});

it("credentials are renewed ahead of their end, once, of connections that nobody uses", async () => {
  const connections = await Promise.all([1, 2, 3, 4].map(() => connect(3 * MINUTE_MS)));
  const calm = await connect(60 * MINUTE_MS);
  // A replica looks around as soon as it begins.
  await Promise.all([start(), start()]);
  for (const connection of connections) {
    await waitFor(async () =>
      (await stateOf(connection)).endsInMs > 50 * MINUTE_MS ? true : null,
    );
  }
  expect(oauth.requests).toHaveLength(4);
  expect(oauth.reuses()).toBe(0);
  expect((await stateOf(calm)).version).toBe(1);
});

it("connections that cannot be opened keep no others from being renewed", async () => {
  const broken = await Promise.all(Array.from({ length: 20 }, () => connect(60 * MINUTE_MS)));
  const ids = broken.map(({ connectionId }) => connectionId);
  await harness.database.query(sql.type(nothing)`
    update integrations.connections
    set sealed_credentials = '\\x00', credentials_expire_at = now() + interval '1 minute'
    where id = any(${sql.array(ids, "text")})
  `);
  const good = await connect(3 * MINUTE_MS);
  await start();
  await waitFor(async () => ((await stateOf(good)).version === 2 ? true : null));
  // Each of them has a pause, so that nobody turns round and round.
  for (const connection of broken) {
    await waitFor(async () => ((await stateOf(connection)).pauseMs ?? 0) > 0);
  }
  await harness.database.query(sql.type(nothing)`
    delete from integrations.connections where id = any(${sql.array(ids, "text")})
  `);
});

it("a consent that is over makes the connection expired; another refusal puts it into error", async () => {
  for (const [error, status, expected] of [
    ["invalid_grant", 400, "expired"],
    ["invalid_scope", 400, "error"],
  ] as const) {
    // Before it is due: replicas look for those by themselves, and who is first is refused.
    oauth.failures.push({ status, error });
    const connection = await connect(-1_000);
    await listLabels(replicas[0], connection.identity);
    const state = await harness.statusOf(connection);
    expect(state.status).toBe(expected);
    expect(state.errorMessage).toEqual(expect.stringMatching(/.+/));
    expect(oauth.requests).toHaveLength(1);
    oauth.requests.length = 0;
  }
});

it("a provider that does not answer changes no status and is asked again with growing pauses", async () => {
  const FAILURES = 4;
  const failNext = () => oauth.failures.push({ status: 503, error: "server_error" });
  // Each failure stands ready before the connection is due: a replica may look for those at any time.
  failNext();
  const connection = await connect(-1_000);
  const pauses: number[] = [];
  for (let failures = 1; failures <= FAILURES; failures += 1) {
    await listLabels(replicas[failures % 3], connection.identity);
    pauses.push(await holdPause(connection));
    expect(await stateOf(connection)).toMatchObject({ status: "active", failures });
    expect(oauth.requests).toHaveLength(failures);
    // During the pause nobody asks, on no replica.
    await Promise.all(replicas.map((replica) => listLabels(replica, connection.identity)));
    expect(oauth.requests).toHaveLength(failures);
    if (failures < FAILURES) failNext();
    await harness.database.query(sql.type(nothing)`
      update integrations.connections set renew_after = now() where id = ${connection.connectionId}
    `);
  }
  const [first = 0, , , last = 0] = pauses;
  expect(last).toBeGreaterThan(3 * first);
  outputOf(await listLabels(replicas[0], connection.identity));
  expect(await stateOf(connection)).toMatchObject({ failures: 0, pauseMs: null });
});

const HOUR_MS = 60 * MINUTE_MS;

/** Makes the pause an hour longer, so that it does not end on a slow machine; answers how long it was. */
async function holdPause({ connectionId }: { connectionId: string }): Promise<number> {
  const row = sql.type(z.object({ pauseMs: z.number() }));
  const { pauseMs } = await harness.database.one(row`
    update integrations.connections
    set renew_after = renew_after + interval '1 hour'
    where id = ${connectionId}
    returning (extract(epoch from renew_after - now()) * 1000)::float8 as "pauseMs"
  `);
  return pauseMs - HOUR_MS;
}

it("credentials at the broker are renewed there; one that it cannot renew is expired", async () => {
  const identity = runsOf();
  const { companyId } = identity;
  // On a database of its own: replicas that have no broker would try, and pause, as well.
  const alone = await startActionsHarness();
  closers.push(() => alone.close());
  const brokers = await alone.start({
    broker: { baseUrl: nango.url, secretKey: nango.secretKey },
    providers: new Map([["slack", { baseUrl: api.url }]]),
  });
  const session = await fetch(`${nango.url}/connect/sessions`, {
    method: "POST",
    headers: { authorization: `Bearer ${nango.secretKey}` },
    body: JSON.stringify({ tags: { end_user_id: newUuid() }, allowed_integrations: ["slack"] }),
  });
  const { data } = z
    .object({ data: z.object({ connect_link: z.string() }) })
    .parse(await session.json());
  const account = nango.approve(data.connect_link);
  const connectionId = await alone.connect(companyId, {
    provider: "slack",
    credentials: { accessToken: account.accessToken },
    expiresAt: new Date(Date.now() + 60 * MINUTE_MS),
  });
  const end = () =>
    alone.database.query(sql.type(nothing)`
      update integrations.connections
      set broker_connection_id = ${account.connectionId}, credentials_expire_at = now() - interval '1 second'
      where id = ${connectionId}
    `);
  await end();
  const call = () =>
    brokers.executeAction(stepCall({ action: "slack.listChannels" }), { identity });
  await call();
  expect(account.refreshes).toBe(1);
  expect(api.requests.at(-1)?.headers.authorization).toBe(`Bearer ${account.accessToken}`);

  account.exhausted = true;
  await end();
  await waitFor(async () => {
    await call();
    return (await alone.statusOf({ companyId, connectionId })).status === "expired" ? true : null;
  });
});

it("what was never completed is abandoned after a day, of all companies, and nothing else is", async () => {
  const make = async (status: string, hours: number): Promise<string> => {
    const id = `conn_${newUuid()}`;
    await harness.database.query(sql.type(nothing)`
      insert into integrations.connections (id, company_id, name, provider, status, created_at)
      values (${id}, ${newUuid()}, 'Old', 'slack', ${status}, now() - ${hours} * interval '1 hour')
    `);
    await harness.database.query(sql.type(nothing)`
      insert into integrations.authorization_attempts (
        id, company_id, connection_id, provider, way, token_hash, callback_url, begun_by, expires_at
      )
      select gen_random_uuid(), company_id, id, provider, 'broker', sha256(id::bytea), 'https://a.example',
        '{"type": "user", "id": "1"}', created_at + interval '24 hours'
      from integrations.connections
      where id = ${id}
    `);
    return id;
  };
  const [old, young, broken] = [
    await make("pending", 25),
    await make("pending", 23),
    await make("error", 25),
  ];
  await start();
  const statusOf = (id: string) =>
    harness.database.oneFirst(sql.type(z.object({ status: z.string() }))`
      select status from integrations.connections where id = ${id}
    `);
  await waitFor(async () => ((await statusOf(old)) === "abandoned" ? true : null));
  expect(await statusOf(young)).toBe("pending");
  expect(await statusOf(broken)).toBe("error");
  const states = await harness.database.any(
    sql.type(z.object({ connection: z.string(), state: z.string() }))`
      select connection_id as "connection", state
      from integrations.authorization_attempts
    `,
  );
  expect(states).toHaveLength(3);
  expect(new Map(states.map(({ connection, state }) => [connection, state]))).toEqual(
    new Map([
      [old, "abandoned"],
      [young, "open"],
      [broken, "abandoned"],
    ]),
  );
});
