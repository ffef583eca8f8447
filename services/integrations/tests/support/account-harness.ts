import type { ConnectionFields, Credentials } from "@workflow/catalog";
import { newId, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { ActionsServiceService } from "@workflow/proto/integrations/v1/actions";
import { ConnectionsServiceService } from "@workflow/proto/integrations/v1/connections";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { openKeyRing } from "@workflow/sealing";
import type { KeyRing } from "@workflow/sealing";
import { z } from "zod";
import { sealCredentials } from "../../src/encryption/sealed-credentials.ts";
import type { IntegrationsServiceOptions } from "../../src/service.ts";
import { insertConnection } from "../../src/store/connections.ts";
import { runsOf, stepCall } from "./actions-harness.ts";
import { newIdentity, startHarness } from "./harness.ts";
import type { Harness } from "./harness.ts";

/** The scopes of the callers in tests of connections. */
export const CALLER_SCOPES = ["connections:read", "connections:write"];
const nothing = z.object({});
const stateRow = z.object({
  status: z.string(),
  errorCode: z.string().nullable(),
  version: z.number(),
  failures: z.number(),
  pauseMs: z.number().nullable(),
  endsInMs: z.number().nullable(),
  leased: z.boolean(),
});

/** One replica, called as people and as steps do. */
export interface Replica {
  connections: RpcClient<typeof ConnectionsServiceService>;
  /** Executes a provider's action with the company's only connection of that provider. */
  act(connected: Connected, action: string): ReturnType<ActionsClient["executeAction"]>;
}
type ActionsClient = RpcClient<typeof ActionsServiceService>;

/** A connection, and somebody who may do everything with it. */
export interface Connected {
  companyId: string;
  connectionId: string;
  identity: Identity;
}

/** An account as an authorization leaves it. */
export interface TestAccount {
  provider: string;
  credentials?: Credentials;
  /** The time until the access token ends; by default the account tells none. */
  endsInMs?: number;
  fields?: ConnectionFields;
  externalAccountId?: string;
  brokerConnectionId?: string;
  /** Somebody of the account's company; by default of a new company. */
  identity?: Identity;
}

/** Services that keep accounts, all on one database of this test file. */
export interface AccountHarness {
  harness: Harness;
  start(options?: Partial<IntegrationsServiceOptions>): Promise<Replica>;
  /** Stores an account that was authorized an hour ago. */
  connect(account: TestAccount): Promise<Connected>;
  stateOf(connected: Connected): Promise<z.output<typeof stateRow>>;
  /** Ends a pause between renewals. */
  endPause(connected: Connected): Promise<void>;
  close(): Promise<void>;
}

export async function startAccountHarness(
  options: Partial<IntegrationsServiceOptions> = {},
): Promise<AccountHarness> {
  const harness = await startHarness(options);
  const { database, tokens } = harness;
  const clients: { close(): void }[] = [];
  const ring = await openKeyRing(database, "integrations", () => Promise.resolve([harness.kek]));
  return {
    harness,
    async start(more = {}) {
      const { grpcAddress: address } = await harness.start(more);
      const minter = tokens.minterTo("integrations");
      const connections = createRpcClient(ConnectionsServiceService, { address, minter });
      const asRuns = tokens.serviceMinterTo("integrations", "runs");
      const actions = createRpcClient(ActionsServiceService, {
        address,
        minter: asRuns,
        defaultTimeoutMs: 50_000,
      });
      clients.push(connections, actions);
      return {
        connections,
        act: ({ companyId }, action) =>
          actions.executeAction(stepCall({ action }), { identity: runsOf(companyId) }),
      };
    },
    connect: (account) => storeAccount(database, ring, account),
    stateOf: ({ connectionId }) => readState(database, connectionId),
    async endPause({ connectionId }) {
      await database.query(sql.type(nothing)`
        update integrations.connections set renew_after = now() where id = ${connectionId}
      `);
    },
    async close() {
      for (const client of clients) client.close();
      await harness.close();
    },
  };
}

async function storeAccount(
  database: Database,
  ring: KeyRing,
  account: TestAccount,
): Promise<Connected> {
  const { identity = newIdentity(CALLER_SCOPES) } = account;
  const key = { companyId: identity.companyId, connectionId: newId("conn_") };
  const { credentials = {}, endsInMs, externalAccountId = null, fields = {} } = account;
  const sealed = await sealCredentials({ database, ring }, key, credentials);
  const expireAt = endsInMs === undefined ? null : new Date(Date.now() + endsInMs);
  // One transaction stores it all, since replicas look for due accounts at any time.
  await database.transaction(async (transaction) => {
    const { provider } = account;
    const row = { ...key, name: provider, provider, status: "active" as const };
    await insertConnection(
      transaction,
      { ...row, externalAccountId, fields, metadataJson: null, credentials: sealed },
      1_000,
    );
    await transaction.query(sql.type(nothing)`
          update integrations.connections
          set credentials_changed_at = now() - interval '1 hour',
            credentials_expire_at = ${expireAt?.toISOString() ?? null}::timestamptz,
            broker_connection_id = ${account.brokerConnectionId ?? null}
          where id = ${key.connectionId}
        `);
  });
  return { ...key, identity };
}

function readState(database: Database, connectionId: string) {
  return database.one(sql.type(stateRow)`
        select
          status,
          error_code as "errorCode",
          credentials_version as "version",
          renewal_failures as "failures",
          (extract(epoch from renew_after - now()) * 1000)::float8 as "pauseMs",
          (extract(epoch from credentials_expire_at - now()) * 1000)::float8 as "endsInMs",
          coalesce(refreshing_until > clock_timestamp(), false) as "leased"
        from integrations.connections
        where id = ${connectionId}
      `);
}
