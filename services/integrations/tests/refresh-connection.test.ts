import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { Credentials } from "@workflow/catalog";
import { newId, sql } from "@workflow/db";
import {
  ConnectionsServiceService,
  ConnectionStatus,
} from "@workflow/proto/integrations/v1/connections";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { openKeyRing } from "@workflow/sealing";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleResponse, HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { sealCredentials } from "../src/encryption/sealed-credentials.ts";
import { changeConnection } from "../src/store/connection-changes.ts";
import { insertConnection } from "../src/store/connections.ts";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

type Connections = RpcClient<typeof ConnectionsServiceService>;

const SCOPES = ["connections:read", "connections:write"];
const RENEWED: DoubleResponse = {
  body: { access_token: "at-2", refresh_token: "rt-2", token_type: "bearer", expires_in: 3600 },
};
const nothing = z.object({});

let harness: Harness;
let server: HttpDouble;
/** What the provider answers when tokens are taken back. */
let revoked: DoubleResponse;
/** Token requests, which wait for their answers. */
let held: ((answer: DoubleResponse) => void)[];
/** Two replicas. */
let one: Connections;
let other: Connections;
const clients: { close(): void }[] = [];

beforeAll(async () => {
  server = await startHttpDouble(({ body, path }) => {
    if (!new URLSearchParams(body).has("grant_type")) {
      return path.includes("revoke") || path.includes("deauthorize") ? revoked : { body: {} };
    }
    return new Promise<DoubleResponse>((resolve) => held.push(resolve));
  });
  const { url } = server;
  const settings = { baseUrl: url, oauthBaseUrl: url, clientId: "our-id", clientSecret: "ours" };
  const providers = new Map([
    ["google-mail", settings],
    ["stripe", settings],
  ]);
  harness = await startHarness({ providers });
  one = connectionsOf((await harness.start()).grpcAddress);
  other = connectionsOf((await harness.start()).grpcAddress);
});
beforeEach(() => {
  server.requests.length = 0;
  revoked = { body: {} };
  held = [];
});
afterAll(async () => {
  for (const client of clients) client.close();
  await harness?.close();
  await server?.close();
});

function connectionsOf(address: string): Connections {
  const minter = harness.tokens.minterTo("integrations");
  const client = createRpcClient(ConnectionsServiceService, { address, minter });
  clients.push(client);
  return client;
}

async function seal(key: { companyId: string; connectionId: string }, credentials: Credentials) {
  const ring = await openKeyRing(harness.database, "integrations", () =>
    Promise.resolve([harness.kek]),
  );
  return sealCredentials({ database: harness.database, ring }, key, credentials);
}

/** A connection as an authorization would have left it, of a company of its own. */
async function connect(provider: string, externalAccountId: string | null = null) {
  const identity: Identity = newIdentity(SCOPES);
  const key = { companyId: identity.companyId, connectionId: newId("conn_") };
  const credentials = await seal(key, { accessToken: "at-1", refreshToken: key.connectionId });
  await harness.database.transaction((transaction) =>
    insertConnection(
      transaction,
      {
        ...key,
        name: provider,
        provider,
        status: "active",
        externalAccountId,
        fields: externalAccountId === null ? {} : { accountId: externalAccountId },
        metadataJson: null,
        credentials,
      },
      1_000,
    ),
  );
  return { ...key, identity };
}

type Connected = Awaited<ReturnType<typeof connect>>;

const refresh = (client: Connections, { connectionId, identity }: Connected) =>
  client.refreshConnection({ connectionId }, { identity });
const remove = ({ connectionId, identity }: Connected) =>
  one.deleteConnection({ connectionId }, { identity });
const get = ({ connectionId, identity }: Connected) =>
  one.getConnection({ connectionId }, { identity });

/** The database's time, once the provider has been asked for other tokens. */
async function whenAsked(): Promise<string> {
  await waitFor(() => Promise.resolve(held.length > 0));
  const row = sql.type(z.object({ now: z.string() }));
  return harness.database.oneFirst(row`select clock_timestamp()::text as "now"`);
}

/** Whether a replica has looked since then if it may renew credentials. */
function hasTriedSince(time: string): Promise<boolean> {
  const row = sql.type(z.object({ tried: z.boolean() }));
  return harness.database.oneFirst(row`
    select exists (
      select
      from pg_stat_activity
      where datname = current_database()
        and pid <> pg_backend_pid()
        and query like '%refreshing_until%'
        and query_start > ${time}::timestamptz
    ) as "tried"
  `);
}

function revocationsOf({ connectionId }: Connected): Promise<number> {
  const row = sql.type(z.object({ rows: z.number() }));
  return harness.database.oneFirst(row`
    select count(*)::integer as "rows"
    from integrations.revocations
    where connection_id = ${connectionId}
  `);
}

/** The tokens, or accounts, that were taken back. */
function takenBack(): (string | null)[] {
  return server.requests
    .map(({ body }) => new URLSearchParams(body))
    .filter((form) => !form.has("grant_type"))
    .map((form) => form.get("token") ?? form.get("stripe_user_id"));
}

describe("POST /connections/{id}/refresh", () => {
  it("answers an error to who waits for another replica that finds the consent over", async () => {
    const connection = await connect("google-mail");
    const row = sql.type(z.object({ now: z.string() }));
    // Another replica is at it.
    const begun = await harness.database.oneFirst(row`
      update integrations.connections
      set refreshing_until = clock_timestamp() + interval '30 seconds'
      where id = ${connection.connectionId}
      returning clock_timestamp()::text as "now"
    `);
    const second = errorOf(refresh(other, connection));
    await waitFor(() => hasTriedSince(begun));
    await harness.database.query(sql.type(nothing)`
      update integrations.connections
      set status = 'error', error_message = 'The consent is over.'
      where id = ${connection.connectionId}
    `);
    expect((await second).reason).toBe("INTERNAL_ERROR");
    const { status, errorMessage } = await get(connection);
    expect(status).toBe(ConnectionStatus.ERROR);
    expect(errorMessage).toBe("The consent is over.");
  });

  it("answers an error when the connection is ended meanwhile, and takes back what came of it", async () => {
    const connection = await connect("google-mail");
    const first = errorOf(refresh(one, connection));
    await whenAsked();
    await remove(connection);
    held.shift()?.(RENEWED);
    expect((await first).reason).toBe("INTERNAL_ERROR");
    expect((await get(connection)).status).toBe(ConnectionStatus.DISCONNECTED);
    // Ending another one wakes those who take access back.
    await remove(await connect("google-mail"));
    await waitFor(async () => (await revocationsOf(connection)) === 0);
    expect(takenBack()).toContain("rt-2");
  });

  it("asks once for all who come to a replica, and none of them asks the database again and again", async () => {
    const connection = await connect("google-mail");
    const first = refresh(one, connection);
    const asked = await whenAsked();
    const others = Array.from({ length: 100 }, () => refresh(one, connection));
    for (let turn = 0; turn < 20; turn += 1) await get(connection);
    expect(await hasTriedSince(asked)).toBe(false);
    held.shift()?.(RENEWED);
    for (const { status } of await Promise.all([first, ...others])) {
      expect(status).toBe(ConnectionStatus.ACTIVE);
    }
    const asks = server.requests.filter(({ body }) => new URLSearchParams(body).has("grant_type"));
    expect(asks).toHaveLength(1);
  });
});

describe("access is not taken back", () => {
  it("of an account that a connection of any company uses; it is when the last one ends", async () => {
    const mine = await connect("stripe", "acct_shared");
    const theirs = await connect("stripe", "acct_shared");
    await remove(mine);
    await waitFor(async () => (await revocationsOf(mine)) === 0);
    expect(takenBack()).not.toContain("acct_shared");
    expect((await get(theirs)).status).toBe(ConnectionStatus.ACTIVE);
    await remove(theirs);
    await waitFor(async () => (await revocationsOf(theirs)) === 0);
    expect(takenBack()).toContain("acct_shared");
  });

  it.each([
    ["stripe", "acct_again"],
    ["google-mail", null],
  ])(
    "when the connection was authorized anew before the provider answered: %s",
    async (provider, account) => {
      revoked = { status: 503 };
      const connection = await connect(provider, account);
      await remove(connection);
      const shown = account ?? connection.connectionId;
      await waitFor(() => Promise.resolve(takenBack().includes(shown)));
      const credentials = await seal(connection, { accessToken: "at-3", refreshToken: "rt-3" });
      await changeConnection(harness.database, connection, "authorized", { credentials });
      revoked = { body: {} };
      const before = takenBack().length;
      await waitFor(async () => {
        await harness.database.query(sql.type(nothing)`
        update integrations.revocations set next_try_at = now()
      `);
        await remove(await connect("stripe", newId("acct_")));
        return (await revocationsOf(connection)) === 0;
      });
      const later = takenBack().slice(before);
      expect(later).not.toContain(shown);
      expect((await get(connection)).status).toBe(ConnectionStatus.ACTIVE);
    },
  );
});
