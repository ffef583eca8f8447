import { randomBytes } from "node:crypto";
import { request as sendRequest } from "node:http";
import { newId, newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { createInProcessEventBus } from "@workflow/events";
import { AccountsServiceService } from "@workflow/proto/integrations/v1/accounts";
import type {
  FoundConnection,
  ReportBrokerAuthorizationRequest,
  ReportBrokerSyncRequest,
} from "@workflow/proto/integrations/v1/accounts";
import { TriggersServiceService } from "@workflow/proto/runs/v1/triggers";
import type { TriggeringEvent } from "@workflow/proto/runs/v1/triggers";
import { createRpcServer, createTokenVerifier, rpc } from "@workflow/rpc";
import type { RpcServer, TokenAudience } from "@workflow/rpc";
import { createLogger } from "@workflow/service";
import { createTestDatabase, createTestTokens } from "@workflow/testkit";
import type { TestTokens } from "@workflow/testkit";
import type { Logger } from "pino";
import { z } from "zod";
import type { WebhooksServiceOptions } from "../../src/options.ts";
import { startWebhooksService } from "../../src/service.ts";

const eventRow = z.object({
  company: z.string().nullable(),
  provider: z.string(),
  type: z.string().nullable(),
  externalId: z.string().nullable(),
  signature: z.string(),
  status: z.string(),
});

/** The real service, with doubles of the services that it calls. */
export interface ProviderHarness {
  /** Active connections; tests add theirs. */
  connections: (FoundConnection & { brokerConnectionId?: string; integrationId?: string })[];
  /** The reported authorizations of the broker. */
  reports: ReportBrokerAuthorizationRequest[];
  syncs: ReportBrokerSyncRequest[];
  /** The error that answers reports; null where reports are believed. */
  reportError: AppError | null;
  /** The events for which runs were started, each once. */
  started: TriggeringEvent[];
  /** Posts to `/webhooks/<path>`; a header may be there several times. */
  post(
    path: string,
    body: string | Buffer,
    headers?: readonly (readonly [string, string])[],
    address?: string,
  ): Promise<{ status: number; body: unknown }>;
  /** Starts one more service on the same database; returns its address for HTTP. */
  start(options?: Partial<WebhooksServiceOptions>): Promise<string>;
  /** The recorded events of a type, by age. */
  recorded(type: string): Promise<readonly z.output<typeof eventRow>[]>;
  close(): Promise<void>;
}

/** @param inboundSecrets of the service that `post` speaks to by default */
export async function startProviderHarness(
  inboundSecrets: WebhooksServiceOptions["inboundSecrets"],
): Promise<ProviderHarness> {
  const testDatabase = await createTestDatabase();
  const { connectionUri } = testDatabase;
  const tokens = createTestTokens();
  const logger = createLogger({ name: "webhooks", level: "silent" });
  const harness: Recorded = {
    connections: [],
    reports: [],
    syncs: [],
    started: [],
    reportError: null,
  };
  const peers = await startPeers(harness, tokens, logger);
  const services: { stop(): Promise<void> }[] = [];
  const start: ProviderHarness["start"] = async (options) => {
    const service = await startWebhooksService({
      grpcAddress: "127.0.0.1:0",
      httpAddress: "127.0.0.1:0",
      grpcReflection: false,
      loadKeks: () => Promise.resolve([randomBytes(32)]),
      bus: createInProcessEventBus({ consumers: {} }),
      ...peers.addresses,
      tokenSigner: tokens.signerOf("webhooks"),
      databaseUrl: connectionUri,
      databasePoolSize: 4,
      tokenPublicKeys: tokens.publicKeys,
      logger,
      ...options,
    });
    services.push(service);
    return service.httpAddress;
  };
  const databaseOptions = { connectionUri, applicationName: "test", maxConnections: 2 };
  const database = await openDatabase(databaseOptions);
  const httpAddress = await start({ inboundSecrets });
  const postTo: ProviderHarness["post"] = (path, body, headers = [], address = httpAddress) =>
    post(`http://${address}/webhooks/${path}`, body, headers);
  return Object.assign(harness, {
    start,
    post: postTo,
    recorded: (type: string) => listRecorded(database, type),
    async close() {
      for (const service of services) await service.stop();
      await peers.close();
      await database.end();
      await testDatabase.close();
    },
  });
}

/** The members of the harness to which the doubles write, and which tests change. */
type Recorded = Pick<
  ProviderHarness,
  "connections" | "reports" | "syncs" | "started" | "reportError"
>;

/** Starts doubles of the integrations and runs services. */
async function startPeers(harness: Recorded, tokens: TestTokens, logger: Logger) {
  const { publicKeys } = tokens;
  const serverFor = (audience: TokenAudience): RpcServer =>
    createRpcServer({
      logger,
      verifier: createTokenVerifier({ audience, publicKeys, revoked: { has: async () => false } }),
    });
  const [integrations, runs] = [serverFor("integrations"), serverFor("runs")];
  addAccounts(integrations, harness);
  addTriggers(runs, harness);
  const [{ address: integrationsGrpcAddress }, { address: runsGrpcAddress }] = await Promise.all([
    integrations.listen("127.0.0.1:0"),
    runs.listen("127.0.0.1:0"),
  ]);
  for (const server of [integrations, runs]) server.setServing(true);
  return {
    addresses: { integrationsGrpcAddress, runsGrpcAddress },
    async close(): Promise<void> {
      for (const server of [integrations, runs]) await server.close();
    },
  };
}

function addAccounts(server: RpcServer, harness: Recorded): void {
  const findNamed = (name: { brokerConnectionId: string; integrationId: string }) => {
    const found = harness.connections.find(
      (each) =>
        each.brokerConnectionId === name.brokerConnectionId &&
        each.integrationId === name.integrationId,
    );
    if (found === undefined) throw new AppError("NOT_FOUND", "No such connection");
    return found;
  };
  server.add(AccountsServiceService, {
    findAccounts: rpc({
      scopes: "internal:accounts",
      handler: async ({ provider, externalAccountIds }) => ({
        connections: harness.connections.filter(
          (each) =>
            each.provider === provider &&
            each.status === "active" &&
            externalAccountIds.includes(each.externalAccountId),
        ),
      }),
    }),
    findBrokerConnection: rpc({
      scopes: "internal:accounts",
      handler: async (name) => findNamed(name),
    }),
    reportBrokerAuthorization: rpc({
      scopes: "internal:accounts",
      async handler(report) {
        harness.reports.push(report);
        if (harness.reportError !== null) throw harness.reportError;
        return findNamed(report);
      },
    }),
    reportBrokerSync: rpc({
      scopes: "internal:accounts",
      async handler(sync) {
        harness.syncs.push(sync);
        return findNamed(sync);
      },
    }),
  });
}

function addTriggers(server: RpcServer, harness: Recorded): void {
  server.add(TriggersServiceService, {
    startTriggeredRuns: rpc({
      scopes: "internal:triggers",
      async handler({ events }) {
        harness.started.push(...events);
        const results = events.map(() => ({
          runs: [{ workflowId: newUuid(), runId: newId("run_") }],
          failure: undefined,
        }));
        return { results };
      },
    }),
  });
}

function listRecorded(database: Database, type: string) {
  return database.any(sql.type(eventRow)`
        select
          company_id as "company", provider, event_type as "type",
          external_event_id as "externalId", signature_verified as "signature", status
        from webhooks.inbound_events
        where event_type = ${type}
        order by id
      `);
}

/** Posts by Node's own client, since fetch sends no header twice. */
function post(
  url: string,
  body: string | Buffer,
  headers: readonly (readonly [string, string])[],
): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const { host } = new URL(url);
    const all = [["host", host], ["content-type", "application/json"], ...headers].flat();
    const length = ["content-length", String(Buffer.byteLength(body))];
    const request = sendRequest(url, { method: "POST", headers: [...all, ...length] });
    request.on("error", reject);
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
      });
    });
    request.end(body);
  });
}
