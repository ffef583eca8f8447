import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleResponse, HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { startAccountHarness } from "./support/account-harness.ts";
import type { AccountHarness, Connected, Replica } from "./support/account-harness.ts";
import { outputOf } from "./support/actions-harness.ts";
import { errorOf } from "./support/harness.ts";

const MINUTE_MS = 60_000;
const nothing = z.object({});

let server: HttpDouble;
/** Token requests, which wait for their answers. */
let held: ((answer: DoubleResponse) => void)[];
/** Tokens that the provider's API refuses. */
const refused = new Set<string>();
let world: AccountHarness;
let one: Replica;
let other: Replica;

beforeAll(async () => {
  server = await startHttpDouble(({ body, headers }) => {
    if (new URLSearchParams(body).has("grant_type")) {
      return new Promise<DoubleResponse>((resolve) => held.push(resolve));
    }
    const [, token = ""] = (headers.authorization ?? "").split(" ");
    return refused.has(token) ? { status: 401, body: {} } : { body: { labels: [] } };
  });
  const { url } = server;
  const settings = { baseUrl: url, oauthBaseUrl: url, clientId: "our-id", clientSecret: "ours" };
  const ids = ["google-mail", "salesforce", "github"];
  world = await startAccountHarness({ providers: new Map(ids.map((id) => [id, settings])) });
  one = await world.start();
  other = await world.start();
});
afterAll(async () => {
  await world?.close();
  await server?.close();
});
beforeEach(() => {
  held = [];
  server.requests.length = 0;
});

const refresh = (replica: Replica, { connectionId, identity }: Connected) =>
  replica.connections.refreshConnection({ connectionId }, { identity });
const asked = (times: number) => waitFor(() => Promise.resolve(held.length >= times));
const answer = (n: number, response: DoubleResponse) => held[n]?.(response);
const renewed = (more: object = {}): DoubleResponse => ({
  body: { access_token: "at-2", refresh_token: "rt-2", token_type: "bearer", ...more },
});

it("a renewal that took too long does not give back the right of the one that came after it", async () => {
  const credentials = { accessToken: "at-1", refreshToken: "rt-1" };
  const connection = await world.connect({ provider: "google-mail", credentials });
  const first = errorOf(refresh(one, connection));
  await asked(1);
  await world.harness.database.query(sql.type(nothing)`
    update integrations.connections
    set refreshing_until = now() - interval '1 second'
    where id = ${connection.connectionId}
  `);
  const second = refresh(other, connection);
  await asked(2);
  answer(0, { status: 503, body: {} });
  expect((await first).reason).toBe("INTERNAL_ERROR");
  expect(await world.stateOf(connection)).toMatchObject({ leased: true, failures: 0 });
  answer(1, renewed({ expires_in: 3600 }));
  await second;
  expect(await world.stateOf(connection)).toMatchObject({ status: "active", leased: false });
});

it("a token whose answer tells no end is renewed after the time that its manifest says", async () => {
  const credentials = { accessToken: "at-1", refreshToken: "rt-1" };
  const connection = await world.connect({ provider: "salesforce", credentials });
  const refreshing = refresh(one, connection);
  await asked(1);
  answer(0, renewed());
  await refreshing;
  const { endsInMs } = await world.stateOf(connection);
  expect(endsInMs).toBeLessThanOrEqual(60 * MINUTE_MS);
  expect(endsInMs).toBeGreaterThan(30 * MINUTE_MS);
});

describe("a token that came without a refresh token", () => {
  const connect = (endsInMs?: number, accessToken = "at-lone") =>
    world.connect({
      provider: "google-mail",
      credentials: { accessToken },
      ...(endsInMs === undefined ? {} : { endsInMs }),
    });
  const act = (connection: Connected) => one.act(connection, "google-mail.listLabels");

  it("is used until its end, and expired only then", async () => {
    const connection = await connect(4 * MINUTE_MS);
    // Due long ago by the rules for tokens that can be renewed: a replica looks as soon as it begins.
    await world.start();
    await waitFor(async () => ((await world.stateOf(connection)).pauseMs ?? 0) > 0);
    outputOf(await act(connection));
    expect(await world.stateOf(connection)).toMatchObject({ status: "active", version: 1 });
    await world.harness.database.query(sql.type(nothing)`
      update integrations.connections
      set credentials_expire_at = now() - interval '1 second', renew_after = null, error_message = 'x'
      where id = ${connection.connectionId}
    `);
    await waitFor(async () => {
      await act(connection);
      return (await world.stateOf(connection)).status === "expired";
    });
    expect(held).toHaveLength(0);
  });

  it("is expired at once when the provider refuses it", async () => {
    refused.add("at-refused");
    const connection = await connect(4 * MINUTE_MS, "at-refused");
    await act(connection);
    expect(await world.stateOf(connection)).toMatchObject({ status: "expired" });
  });

  it("is verified by a refresh, as it can't be renewed", async () => {
    const connection = await connect();
    await refresh(one, connection);
    expect(await world.stateOf(connection)).toMatchObject({ status: "active" });
    const bad = await connect(undefined, "at-bad");
    refused.add("at-bad");
    expect((await errorOf(refresh(one, bad))).reason).toBe("INTERNAL_ERROR");
    expect(await world.stateOf(bad)).toMatchObject({ status: "error" });
    expect(held).toHaveLength(0);
  });
});
