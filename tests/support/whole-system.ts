import { randomBytes, scryptSync } from "node:crypto";
import { createScope } from "@workflow/async";
import { openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import { openServiceTraces } from "@workflow/service";
import {
  EVENT_CONSUMERS as GATEWAY_CONSUMERS,
  startGatewayService,
} from "@workflow/service-gateway";
import {
  createApiKey,
  insertPreparedCompany,
  insertPreparedUser,
} from "@workflow/service-gateway/admin";
import {
  EVENT_CONSUMERS as INTEGRATIONS_CONSUMERS,
  startIntegrationsService,
} from "@workflow/service-integrations";
import {
  connectPeers,
  EVENT_CONSUMERS as RUNS_CONSUMERS,
  startRunsService,
} from "@workflow/service-runs";
import { startTablesService } from "@workflow/service-tables";
import {
  EVENT_CONSUMERS as WEBHOOKS_CONSUMERS,
  startWebhooksService,
} from "@workflow/service-webhooks";
import { startWorkflowsService } from "@workflow/service-workflows";
import { createTestDatabase, createTestTokens } from "@workflow/testkit";
import type { ModelDouble } from "@workflow/testkit";
import pino from "pino";
import { Registry } from "prom-client";
import { callApi } from "./api-client.ts";
import type {
  Company,
  Gateway,
  GatewayOptions,
  Services,
  SystemOptions,
  WholeSystem,
} from "./system-types.ts";
import { sharedDatabaseUrl, startOwnServices, startServicesApart } from "./apart/services-apart.ts";
import type { MoreApart } from "./apart/services-apart.ts";
import type { Apart } from "./apart/start-apart.ts";

export type { Company, Gateway, Person, SystemOptions, WholeSystem } from "./system-types.ts";

/** The model of each AI provider. */
export const AGENT_MODELS = { openai: "gpt-test", anthropic: "claude-test" } as const;

/** Starts everything on free ports. Rejects, leaving nothing behind, when a part cannot start. */
export function startWholeSystem(options: SystemOptions = {}): Promise<WholeSystem> {
  if (process.env["SYSTEM"] !== "separate") return startWith(startServices, options);
  const databaseUrl = options.databaseUrl ?? sharedDatabaseUrl(options);
  return startWith(startServicesApart, options, databaseUrl);
}

/** A system of separate processes, two of most, that a test may kill. */
export interface ReplicatedSystem extends WholeSystem {
  apart: Apart;
}

/** Starts one for this file alone, whatever SYSTEM says. */
export async function startReplicatedSystem(
  options: SystemOptions = {},
  more: MoreApart = {},
): Promise<ReplicatedSystem> {
  let apart: Apart | undefined;
  const system = await startWith(async (databaseUrl) => {
    const services = await startOwnServices(databaseUrl, options, more);
    ({ apart } = services);
    return services;
  }, options);
  if (apart === undefined) throw new Error("No processes were started.");
  return { ...system, apart };
}

async function startWith(
  start: (databaseUrl: string, options: SystemOptions) => Promise<Services>,
  options: SystemOptions,
  givenDatabaseUrl = options.databaseUrl,
): Promise<WholeSystem> {
  const scope = createScope();
  return scope.guard(async () => {
    let databaseUrl = givenDatabaseUrl;
    if (databaseUrl === undefined) {
      const testDatabase = await createTestDatabase();
      scope.defer(() => testDatabase.close());
      databaseUrl = testDatabase.connectionUri;
    }
    const admin = await openDatabase({
      connectionUri: databaseUrl,
      maxConnections: 2,
      applicationName: "test",
      onError: () => {},
    });
    scope.defer(() => admin.end());
    const services = await start(databaseUrl, options);
    scope.defer(() => services.stop());
    const [acme, globex] = await Promise.all([
      makeCompany(admin, "Acme"),
      makeCompany(admin, "Globex"),
    ]);
    const origin = services.origin ?? (await services.startGateway()).origin;
    let people = 0;
    return {
      origin,
      acme,
      globex,
      call: (method, path, callOptions = {}) =>
        callApi(`${origin}/api/v1${path}`, method, { key: acme.key, ...callOptions }),
      createKey: async (company, scopes, expiresAt) => {
        const created = await createApiKey(admin, {
          companyId: company.id,
          name: "Test",
          scopes: [...scopes],
          ...(expiresAt === undefined ? {} : { expiresAt }),
        });
        return created.key;
      },
      createPerson: async (company, role) => {
        people += 1;
        const person = { email: `${role}${people}@${MARK}people.example`, password: PASSWORD };
        const { email } = person;
        const prepared = { companyId: company.id, email, role, name: email };
        const { userId } = await admin.transaction((transaction) =>
          insertPreparedUser(transaction, { ...prepared, passwordHash: CHEAP_HASH }),
        );
        return { ...person, id: userId };
      },
      database: admin,
      grpcAddresses: services.grpcAddresses,
      tokens: services.tokens,
      natsUrl: services.natsUrl ?? null,
      startGateway: services.startGateway,
      stop: () => scope.close(),
    };
  });
}

const PASSWORD = "correct horse battery staple";
/** Files that share a system have people of their own. */
const MARK = process.env["SYSTEM"] === "separate" ? `${randomBytes(4).toString("hex")}.` : "";
/**
 * The password of owners and people, hashed with next to no work: a stored hash says how it was made. Real
 * ones cost a quarter of a second at the making and at each sign-in. What the API and the admin functions
 * store is real.
 */
const CHEAP_HASH = (() => {
  const salt = randomBytes(16);
  const hash = scryptSync(PASSWORD, salt, 32, { N: 2, r: 1, p: 1 });
  const [saltText, hashText] = [salt, hash].map((bytes) =>
    bytes.toString("base64").replace(/=+$/, ""),
  );
  return `$scrypt$ln=1,r=1,p=1$${saltText}$${hashText}`;
})();

async function startServices(
  databaseUrl: string,
  {
    leaseMs = 10_000,
    log,
    mail,
    connecting = {},
    providers = connecting.providers,
    companyLimits = {},
    outbound,
    agents: agentOptions = {},
    webhooks: webhooksOptions = {},
    tracing,
    metricsRegistry,
  }: SystemOptions,
): Promise<Services> {
  const outboundOptions = {
    outboundAllowPrivate: outbound?.allowPrivate ?? true,
    outboundDnsServers: outbound?.dnsServers,
  };
  const scope = createScope();
  return scope.guard(async () => {
    const tokens = createTestTokens();
    const common = {
      databaseUrl,
      databasePoolSize: 8,
      tokenPublicKeys: tokens.publicKeys,
      // Reading the protos takes a quarter of a start.
      grpcReflection: false,
      logger:
        log === undefined
          ? pino({ level: process.env["TEST_LOG_LEVEL"] ?? "silent" })
          : pino({ level: "debug" }, log),
      metricsRegistry,
    };
    const traces =
      tracing &&
      openServiceTraces(
        { ...tracing, headers: undefined },
        { logger: common.logger, metricsRegistry: metricsRegistry ?? new Registry() },
      );
    if (traces !== undefined) scope.defer(() => traces.close());
    const bus = createInProcessEventBus({
      consumers: {
        ...INTEGRATIONS_CONSUMERS,
        ...RUNS_CONSUMERS,
        ...GATEWAY_CONSUMERS,
        ...WEBHOOKS_CONSUMERS,
      },
    });
    scope.defer(() => bus.close());
    const tables = await startTablesService({
      ...common,
      tracer: traces?.tracer("tables"),
      bus,
      grpcAddress: "127.0.0.1:0",
    });
    scope.defer(() => tables.stop());
    const kek = randomBytes(32);
    const integrations = await startIntegrationsService({
      ...common,
      ...connecting,
      tracer: traces?.tracer("integrations"),
      loadKeks: () => Promise.resolve([kek]),
      mail,
      providers,
      models: {
        openai: { ...accessTo(agentOptions.openai), model: AGENT_MODELS.openai, api: "auto" },
        anthropic: { ...accessTo(agentOptions.anthropic), model: AGENT_MODELS.anthropic },
      },
      agentCalls: { tokensPerDay: agentOptions.tokensPerDay },
      agentTimeoutMs: agentOptions.timeoutMs,
      ...outboundOptions,
      bus,
      grpcAddress: "127.0.0.1:0",
    });
    scope.defer(() => integrations.stop());
    const tokenSigner = tokens.signerOf("runs");
    const tracer = traces?.tracer("runs");
    const peers = connectPeers(
      {
        integrationsGrpcAddress: integrations.grpcAddress,
        tablesGrpcAddress: tables.grpcAddress,
        tokenSigner,
        grpcTls: undefined,
        tracer,
      },
      scope,
    );
    const runs = await startRunsService({
      ...common,
      ...companyLimits,
      tracer,
      role: "all",
      grpcAddress: "127.0.0.1:0",
      bus,
      ...peers,
      ...outboundOptions,
      workerConcurrency: 50,
      leaseMs,
    });
    scope.defer(() => runs.stop());
    const runsGrpcAddress = runs.grpcAddress;
    if (runsGrpcAddress === undefined) throw new Error("The runs service has no address.");
    const workflows = await startWorkflowsService({
      ...common,
      tracer: traces?.tracer("workflows"),
      grpcAddress: "127.0.0.1:0",
      runsGrpcAddress,
      tokenSigner: tokens.signerOf("workflows"),
      agentModels: AGENT_MODELS,
      bus,
    });
    scope.defer(() => workflows.stop());
    const webhooks = await startWebhooksService({
      ...common,
      tracer: traces?.tracer("webhooks"),
      ...outboundOptions,
      loadKeks: () => Promise.resolve([kek]),
      bus,
      grpcAddress: "127.0.0.1:0",
      httpAddress: "127.0.0.1:0",
      runsGrpcAddress,
      integrationsGrpcAddress: integrations.grpcAddress,
      tokenSigner: tokens.signerOf("webhooks"),
      ...webhooksOptions,
    });
    scope.defer(() => webhooks.stop());
    const startGateway = async (gatewayOptions: GatewayOptions = {}): Promise<Gateway> => {
      const gateway = await startGatewayService({
        ...common,
        tracer: traces?.tracer("gateway"),
        ...gatewayOptions,
        host: "127.0.0.1",
        port: 0,
        bus,
        tokenSigner: tokens.signerOf("gateway"),
        workflowsGrpcAddress: workflows.grpcAddress,
        runsGrpcAddress,
        tablesGrpcAddress: tables.grpcAddress,
        integrationsGrpcAddress: integrations.grpcAddress,
        webhooksGrpcAddress: webhooks.grpcAddress,
        webhooksHttpAddress: webhooks.httpAddress,
      });
      scope.defer(() => gateway.stop());
      return { origin: `http://127.0.0.1:${gateway.port}`, stop: () => gateway.stop() };
    };
    const grpcAddresses = {
      workflows: workflows.grpcAddress,
      runs: runsGrpcAddress,
      tables: tables.grpcAddress,
      integrations: integrations.grpcAddress,
      webhooks: webhooks.grpcAddress,
    };
    return { startGateway, grpcAddresses, tokens, stop: () => scope.close() };
  });
}

/** Without a double there is no key, so that nobody is asked. */
function accessTo(double: ModelDouble | undefined) {
  return { apiKey: double?.key, baseUrl: double?.baseUrl ?? "http://127.0.0.1:1" };
}

async function makeCompany(database: Database, name: string): Promise<Company> {
  const owner = { email: `owner@${MARK}${name.toLowerCase()}.example`, password: PASSWORD };
  const prepared = { name, email: owner.email, passwordHash: CHEAP_HASH };
  const { companyId, userId, apiKey } = await database.transaction((transaction) =>
    insertPreparedCompany(transaction, prepared),
  );
  return { id: companyId, key: apiKey, name, owner: { ...owner, id: userId } };
}
