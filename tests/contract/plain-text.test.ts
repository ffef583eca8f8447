import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createInProcessEventBus } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { startGatewayService } from "@workflow/service-gateway";
import { startIntegrationsService } from "@workflow/service-integrations";
import {
  createEmailClient,
  createProviderClient,
  createSecretsClient,
  createTablesClient,
  startRunsService,
} from "@workflow/service-runs";
import { startTablesService } from "@workflow/service-tables";
import { startWebhooksService } from "@workflow/service-webhooks";
import { startWorkflowsService } from "@workflow/service-workflows";
import { createTestDatabase, createTestTokens } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import pino from "pino";
import { AGENT_MODELS } from "../support/whole-system.ts";

const BEYOND = "0.0.0.0:0";
const ELSEWHERE = "service.example:50000";
const NOBODY = "127.0.0.1:1";

const tokens = createTestTokens();
let testDatabase: TestDatabase;
let bus: EventBus;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  bus = createInProcessEventBus({ consumers: {} });
});
afterAll(async () => {
  await bus.close();
  await testDatabase.close();
});

const common = () => ({
  databaseUrl: testDatabase.connectionUri,
  databasePoolSize: 2,
  tokenPublicKeys: tokens.publicKeys,
  bus,
  logger: pino({ level: "silent" }),
  grpcAddress: "127.0.0.1:0",
});

const startRuns = (grpcAddress: string) =>
  startRunsService({
    ...common(),
    grpcAddress,
    role: "api",
    outboundAllowPrivate: false,
    workerConcurrency: 1,
  });
const startWorkflows = (grpcAddress: string, runsGrpcAddress: string) =>
  startWorkflowsService({
    ...common(),
    grpcAddress,
    runsGrpcAddress,
    tokenSigner: tokens.signerOf("workflows"),
    agentModels: AGENT_MODELS,
  });
const startGateway = (addresses: object) =>
  startGatewayService({
    ...common(),
    host: "127.0.0.1",
    port: 0,
    tokenSigner: tokens.signerOf("gateway"),
    workflowsGrpcAddress: NOBODY,
    runsGrpcAddress: NOBODY,
    tablesGrpcAddress: NOBODY,
    integrationsGrpcAddress: NOBODY,
    webhooksGrpcAddress: NOBODY,
    webhooksHttpAddress: "127.0.0.1:1",
    ...addresses,
  });
const startWebhooks = (addresses: object) =>
  startWebhooksService({
    ...common(),
    loadKeks: () => Promise.resolve([randomBytes(32)]),
    grpcAddress: "127.0.0.1:0",
    httpAddress: "127.0.0.1:0",
    runsGrpcAddress: NOBODY,
    integrationsGrpcAddress: NOBODY,
    tokenSigner: tokens.signerOf("webhooks"),
    ...addresses,
  });
const asRuns = () => ({ address: ELSEWHERE, tokenSigner: tokens.signerOf("runs") });

/** Every way in which a service meets another. */
const STARTS: readonly [string, string, () => unknown][] = [
  ["tables listens", BEYOND, () => startTablesService({ ...common(), grpcAddress: BEYOND })],
  [
    "integrations listens",
    BEYOND,
    () =>
      startIntegrationsService({
        ...common(),
        grpcAddress: BEYOND,
        loadKeks: () => Promise.resolve([randomBytes(32)]),
      }),
  ],
  ["webhooks listens", BEYOND, () => startWebhooks({ grpcAddress: BEYOND })],
  ["webhooks calls runs", ELSEWHERE, () => startWebhooks({ runsGrpcAddress: ELSEWHERE })],
  [
    "webhooks calls integrations",
    ELSEWHERE,
    () => startWebhooks({ integrationsGrpcAddress: ELSEWHERE }),
  ],
  ["runs listens", BEYOND, () => startRuns(BEYOND)],
  ["workflows listens", BEYOND, () => startWorkflows(BEYOND, NOBODY)],
  ["workflows calls runs", ELSEWHERE, () => startWorkflows("127.0.0.1:0", ELSEWHERE)],
  ["runs calls tables", ELSEWHERE, async () => createTablesClient(asRuns())],
  ["runs calls integrations for secrets", ELSEWHERE, async () => createSecretsClient(asRuns())],
  ["runs calls integrations for actions", ELSEWHERE, async () => createProviderClient(asRuns())],
  ["runs calls integrations for e-mail", ELSEWHERE, async () => createEmailClient(asRuns())],
  ...["workflows", "runs", "tables", "integrations", "webhooks"].map(
    (service): [string, string, () => unknown] => [
      `gateway calls ${service}`,
      ELSEWHERE,
      () => startGateway({ [`${service}GrpcAddress`]: ELSEWHERE }),
    ],
  ),
];

describe("without certificates nothing starts in plain text beyond this machine", () => {
  it.each(STARTS)("%s on %s", async (_what, address, start) => {
    const message = new RegExp(`plain text.*${address}.*GRPC_ALLOW_PLAINTEXT`);
    await expect(Promise.resolve().then(start)).rejects.toThrow(message);
  });
});
