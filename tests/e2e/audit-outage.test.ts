import { afterEach, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createInProcessEventBus, createNatsEventBus } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import { createRpcClient } from "@workflow/rpc";
import { EVENT_CONSUMERS, startGatewayService } from "@workflow/service-gateway";
import { verifyAudit } from "@workflow/service-gateway/admin";
import { startWorkflowsService } from "@workflow/service-workflows";
import {
  createTestDatabase,
  createTestTokens,
  freePort,
  startLocalNats,
  waitFor,
} from "@workflow/testkit";
import pino from "pino";
import { z } from "zod";
import { AGENT_MODELS } from "../support/whole-system.ts";

const logger = pino({ level: process.env["TEST_LOG_LEVEL"] ?? "silent" });
const idRow = z.object({ id: z.string() });

let scope: Scope;
afterEach(() => scope.close());

const BUSES: [string, () => Promise<EventBus>][] = [
  [
    "the bus within the process",
    async () => createInProcessEventBus({ consumers: { ...EVENT_CONSUMERS } }),
  ],
  [
    "NATS",
    async () => {
      const nats = await startLocalNats();
      scope.defer(() => nats.stop());
      // What is on its way to a gateway at the moment at which it stops comes again after that time.
      const ackWaitMs = 3_000;
      return createNatsEventBus({ servers: nats.url, name: "test", ackWaitMs, logger });
    },
  ],
];

describe.each(BUSES)("over %s", (_name, openBus) => {
  it("what happens while the gateway is away is in the log when it is back, once", async () => {
    scope = createScope();
    const system = await startSystem(await openBus());
    const identity = newIdentity();
    const change = async (count: number): Promise<string[]> => {
      const made = Array.from({ length: count }, async () => {
        const workflow = { name: "Audited", triggerJson: '{"type":"api"}', stepsJson: "[]" };
        return (await system.client.createWorkflow(workflow, { identity })).id;
      });
      return Promise.all(made);
    };
    const recorded = async (): Promise<readonly string[]> => {
      const rows = await system.database.any(sql.type(idRow)`
        select resource_id as id from gateway.audit_log where company_id = ${identity.companyId}
      `);
      return rows.map(({ id }) => id);
    };
    const ids = await change(40);
    expect(await recorded()).toEqual([]);
    // What the service publishes besides is not held up by the log.
    for (const workflowId of ids.slice(0, 3)) {
      await system.client.archiveWorkflow({ workflowId }, { identity });
    }
    await waitFor(async () => (await system.countUnpublished("workflows")) === 0);

    for (let times = 0; times < 2; times += 1) {
      const gateway = await system.startGateway();
      await waitFor(async () => (await recorded()).length === ids.length + 3, {
        timeoutMs: 60_000,
      });
      ids.push(...(await change(10)));
      await gateway.stop();
      ids.push(...(await change(10)));
    }
    const gateway = await system.startGateway();
    await waitFor(async () => (await recorded()).length === ids.length + 3, { timeoutMs: 60_000 });
    await gateway.stop();
    expect(new Set(await recorded())).toEqual(new Set(ids));
    expect(await verifyAudit(system.database, { companyId: identity.companyId })).toMatchObject({
      ok: true,
      events: ids.length + 3,
    });
  });
});

/** The workflows service, and gateways when they are wanted. */
async function startSystem(bus: EventBus) {
  scope.defer(() => bus.close());
  const testDatabase = await createTestDatabase();
  scope.defer(() => testDatabase.close());
  const database = await openDatabase({
    connectionUri: testDatabase.connectionUri,
    applicationName: "test",
  });
  scope.defer(() => database.end());
  const tokens = createTestTokens();
  const common = {
    databaseUrl: testDatabase.connectionUri,
    databasePoolSize: 5,
    bus,
    logger,
  };
  // Only drafts are changed here: nobody needs the services that are not there.
  const nobody = `127.0.0.1:${await freePort()}`;
  const workflows = await startWorkflowsService({
    ...common,
    grpcAddress: "127.0.0.1:0",
    runsGrpcAddress: nobody,
    agentModels: AGENT_MODELS,
    tokenPublicKeys: tokens.publicKeys,
    tokenSigner: tokens.signerOf("workflows"),
  });
  scope.defer(() => workflows.stop());
  const client = createRpcClient(WorkflowsServiceService, {
    address: workflows.grpcAddress,
    minter: tokens.minterTo("workflows"),
  });
  scope.defer(() => client.close());
  return {
    client,
    database,
    countUnpublished: (stream: string) => countUnpublished(database, stream),
    startGateway: async () => {
      const gateway = await startGatewayService({
        ...common,
        tokenSigner: tokens.signerOf("gateway"),
        host: "127.0.0.1",
        port: 0,
        workflowsGrpcAddress: workflows.grpcAddress,
        runsGrpcAddress: nobody,
        tablesGrpcAddress: nobody,
        integrationsGrpcAddress: nobody,
        webhooksGrpcAddress: nobody,
        webhooksHttpAddress: "127.0.0.1:1",
      });
      scope.defer(() => gateway.stop());
      return gateway;
    },
  };
}

async function countUnpublished(database: Database, stream: string): Promise<number> {
  const { count } = await database.one(sql.type(z.object({ count: z.number() }))`
    select count(*) as count from workflows.outbox
    where stream = ${stream} and published_at is null
  `);
  return count;
}

function newIdentity() {
  const principal = { type: "api_key", id: newUuid() } as const;
  return { companyId: newUuid(), principal, scopes: ["workflows:write"] };
}
