import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { startHttpDouble, startOAuthDouble, waitFor } from "@workflow/testkit";
import type { DoubleResponse, HttpDouble, OAuthDouble } from "@workflow/testkit";
import { startAccountHarness } from "./support/account-harness.ts";
import type { AccountHarness, Connected, Replica } from "./support/account-harness.ts";
import { failureOf, outputOf } from "./support/actions-harness.ts";
import { errorOf } from "./support/harness.ts";

const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret-hush" };
const BROKER_KEY = "our-broker-key-hush";
const HOUR_MS = 3_600_000;

let api: HttpDouble;
/** What the provider's API answers. */
let ofApi: DoubleResponse;
let oauth: OAuthDouble;
let broker: HttpDouble;
/** What the broker answers to a question about one connection, and for its list. */
let ofConnection: DoubleResponse;
let ofList: DoubleResponse;
let world: AccountHarness;
let replica: Replica;
/** How many there are: each tells the operator for itself. */
let replicas = 0;

beforeAll(async () => {
  api = await startHttpDouble(() => ofApi);
  oauth = await startOAuthDouble(CLIENT);
  broker = await startHttpDouble(({ path }) =>
    path.startsWith("/connections/") ? ofConnection : ofList,
  );
  const providers = new Map([
    ["google-mail", { ...CLIENT, oauthBaseUrl: oauth.url, baseUrl: api.url }],
    ["slack", { baseUrl: api.url }],
  ]);
  world = await startAccountHarness({
    providers,
    broker: { baseUrl: broker.url, secretKey: BROKER_KEY },
  });
  replica = await start();
  // One that the harness has started.
  replicas += 1;
});
afterAll(async () => {
  await world?.close();
  for (const double of [api, oauth, broker]) await double?.close();
});
beforeEach(() => {
  oauth.failures.length = 0;
  broker.requests.length = 0;
  ofApi = { body: { ok: true, labels: [], channels: [] } };
  ofConnection = { body: {} };
  ofList = { body: { connections: [] } };
});

function start(): Promise<Replica> {
  replicas += 1;
  // There are many, and one database.
  return world.start({ databasePoolSize: 3 });
}

/** Refuses until `oauth.failures` is empty, whoever asks: replicas look for what has ended by themselves. */
function refuse(error: string, status = 400): void {
  oauth.failures.length = 0;
  for (let n = 0; n < 500; n += 1) oauth.failures.push({ status, error });
}

/** Lines at the level of errors that name a setting. */
function told(setting: string): unknown[] {
  return world.harness
    .logged()
    .split("\n")
    .filter((line) => line !== "")
    .map((line): { level?: number; setting?: string } => JSON.parse(line))
    .filter((line) => line.level === 50 && line.setting === setting);
}

/** A consent that was given before, whose access token ends then. */
function connectGoogle(endsInMs: number): Promise<Connected> {
  const { accessToken, refreshToken } = oauth.grant();
  const credentials = { accessToken, refreshToken };
  return world.connect({ provider: "google-mail", credentials, endsInMs });
}

const connectSlack = (endsInMs = -1_000): Promise<Connected> =>
  world.connect({
    provider: "slack",
    credentials: { accessToken: "at-1" },
    endsInMs,
    brokerConnectionId: newUuid(),
  });

const listLabels = (connected: Connected) => replica.act(connected, "google-mail.listLabels");
const listChannels = (connected: Connected) => replica.act(connected, "slack.listChannels");
const refresh = ({ connectionId, identity }: Connected) =>
  replica.connections.refreshConnection({ connectionId }, { identity });

describe("an application that the provider refuses", () => {
  it.each([
    ["invalid_client", 401],
    ["invalid_client", 400],
    ["unauthorized_client", 400],
  ])("puts no connection into error, and the step may try again: %s, %i", async (error, status) => {
    refuse(error, status);
    const connection = await connectGoogle(-1_000);
    const failure = failureOf(await listLabels(connection));
    expect(failure).toMatchObject({ code: "CONNECTION_UNAVAILABLE", retryable: true });
    await waitFor(async () => (await world.stateOf(connection)).failures > 0);
    expect(await world.stateOf(connection)).toMatchObject({ status: "active", version: 1 });
    oauth.failures.length = 0;
    await waitFor(async () => {
      await world.endPause(connection);
      return (await listLabels(connection)).outcome?.$case === "outputJson";
    });
  });

  it("is told to the operator once, by the setting's name, until it has passed", async () => {
    const setting = "GOOGLE_MAIL_CLIENT_SECRET";
    // What was told in another case has passed.
    outputOf(await listLabels(await connectGoogle(-1_000)));
    const before = told(setting).length;
    refuse("invalid_client", 401);
    const connections = await Promise.all(Array.from({ length: 10 }, () => connectGoogle(-1_000)));
    for (const each of connections) failureOf(await listLabels(each));
    const times = told(setting).length - before;
    expect(times).toBeGreaterThan(0);
    expect(times).toBeLessThanOrEqual(replicas);
    expect(world.harness.logged()).not.toContain("hush");
  });

  it("puts it into error when a caller asked; a renewal ahead brings it back when it is mended", async () => {
    const connection = await connectGoogle(HOUR_MS);
    refuse("invalid_client", 401);
    expect((await errorOf(refresh(connection))).reason).toBe("INTERNAL_ERROR");
    const { status, errorCode } = await world.stateOf(connection);
    expect([status, errorCode]).toEqual(["error", "not_renewed"]);
    oauth.failures.length = 0;
    await world.endPause(connection);
    // A replica looks around as soon as it begins.
    await start();
    await waitFor(async () => {
      await world.endPause(connection);
      return (await world.stateOf(connection)).status === "active";
    });
    expect(await world.stateOf(connection)).toMatchObject({ errorCode: null, version: 2 });
  });

  it.each([
    ["invalid_client", 401],
    ["server_error", 503],
  ])(
    "a verification that is refused meanwhile finds an error that passes: %s, %i",
    async (error, status) => {
      const connection = await connectGoogle(HOUR_MS);
      refuse(error, status);
      ofApi = { status: 401, body: {} };
      const { connectionId, identity } = connection;
      const verify = () => replica.connections.verifyConnection({ connectionId }, { identity });
      expect(await verify()).toMatchObject({ healthy: false });
      expect(await world.stateOf(connection)).toMatchObject({
        status: "error",
        errorCode: "not_renewed",
        version: 1,
      });
      oauth.failures.length = 0;
      await world.endPause(connection);
      await start();
      await waitFor(async () => {
        await world.endPause(connection);
        return (await world.stateOf(connection)).status === "active";
      });
    },
  );

  it("a caller's own refresh brings it back as well; of an ended consent no renewal does", async () => {
    const [mended, over] = [await connectGoogle(HOUR_MS), await connectGoogle(HOUR_MS)];
    refuse("unauthorized_client");
    expect((await errorOf(refresh(mended))).reason).toBe("INTERNAL_ERROR");
    refuse("invalid_grant");
    expect((await errorOf(refresh(over))).reason).toBe("INTERNAL_ERROR");
    oauth.failures.length = 0;
    await refresh(mended);
    expect(await world.stateOf(mended)).toMatchObject({ status: "active", errorCode: null });
    expect(await world.stateOf(over)).toMatchObject({
      status: "error",
      errorCode: "invalid_grant",
    });
  });
});

it.each(["temporarily_unavailable", "server_error", "slow_down"])(
  "a provider that answers %s with status 400 is asked again later",
  async (error) => {
    refuse(error);
    const connection = await connectGoogle(-1_000);
    expect(failureOf(await listLabels(connection))).toMatchObject({ retryable: true });
    expect(await world.stateOf(connection)).toMatchObject({ status: "active" });
  },
);

describe("a broker", () => {
  const refusal = (status: number, error: unknown): DoubleResponse => ({ status, body: { error } });
  const everything = (answer: DoubleResponse) => {
    ofConnection = answer;
    ofList = answer;
  };

  /** By a replica that has told of nothing yet, so lines of other cases do not count. */
  async function expectTold(setting: string, connection: Connected): Promise<void> {
    const fresh = await start();
    const before = told(setting).length;
    await waitFor(async () => {
      // Others may be faster to ask; then it is asked once more.
      await world.endPause(connection);
      await fresh.act(connection, "slack.listChannels");
      return told(setting).length > before;
    });
  }

  it.each<[string, DoubleResponse, string]>([
    ["refuses our key", refusal(401, { code: "unauthorized" }), "NANGO_SECRET_KEY"],
    ["refuses our key's rights", refusal(403, { code: "forbidden" }), "NANGO_SECRET_KEY"],
    ["has no such address", { status: 404, body: "<h1>Not found</h1>" }, "NANGO_BASE_URL"],
    ["is another server", refusal(404, { code: "not_found" }), "NANGO_BASE_URL"],
    [
      "does not know the integration",
      refusal(400, { code: "unknown_provider_config" }),
      "the integration slack at the broker",
    ],
    ["could not renew, and does not say why", refusal(400, { code: "invalid_credentials" }), ""],
    [
      "is refused itself by the provider",
      refusal(424, {
        code: "invalid_credentials",
        payload: { dataMessage: '{"error":"invalid_client"}' },
      }),
      "client id and secret of the integration slack at the broker",
    ],
    [
      "could not reach the provider",
      refusal(424, {
        code: "refresh_token_external_error",
        payload: { error: "temporarily_unavailable" },
      }),
      "",
    ],
  ])("that %s changes no status, and the step may try again", async (_what, answer, setting) => {
    everything(answer);
    const connection = await connectSlack();
    expect(failureOf(await listChannels(connection))).toMatchObject({
      code: "CONNECTION_UNAVAILABLE",
      retryable: true,
    });
    await waitFor(async () => (await world.stateOf(connection)).failures > 0);
    expect(await world.stateOf(connection)).toMatchObject({ status: "active", version: 1 });
    if (setting !== "") await expectTold(setting, connection);
    expect(world.harness.logged()).not.toContain("hush");
  });

  it.each<[string, DoubleResponse]>([
    ["has no such connection", refusal(404, { code: "not_found" })],
    ["has given up renewing", refusal(424, { code: "invalid_credentials" })],
    [
      "was told that the consent is over",
      refusal(400, { code: "invalid_credentials", payload: { error: "invalid_grant" } }),
    ],
  ])("that %s ends the connection", async (_what, answer) => {
    ofConnection = answer;
    const connection = await connectSlack();
    await listChannels(connection);
    await waitFor(async () => (await world.stateOf(connection)).status === "expired");
  });
});
