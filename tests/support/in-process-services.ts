import { randomBytes } from "node:crypto";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { createInProcessEventBus } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { openServiceTraces } from "@workflow/service";
import {
  EVENT_CONSUMERS as GATEWAY_CONSUMERS,
  startGatewayService,
} from "@workflow/service-gateway";
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
import { createTestTokens } from "@workflow/testkit";
import type { ModelDouble, TestTokens } from "@workflow/testkit";
import type { Tracer } from "@workflow/tracing";
import pino from "pino";
import { Registry } from "prom-client";
import type { Gateway, GatewayOptions, Services, SystemOptions } from "./system-types.ts";

/** The model of each AI provider. */
export const AGENT_MODELS = { openai: "gpt-test", anthropic: "claude-test" } as const;

const ANY_PORT = "127.0.0.1:0";

/** What the services of one process share. */
interface Shared {
  readonly scope: Scope;
  readonly options: SystemOptions;
  readonly tokens: TestTokens;
  readonly bus: EventBus;
  readonly kek: Buffer;
  /** The options that every service takes. */
  readonly common: ReturnType<typeof commonOptions>;
  /** The options of services that send requests to hosts of tenants. */
  readonly outbound: {
    readonly outboundAllowPrivate: boolean;
    readonly outboundDnsServers: readonly string[] | undefined;
  };
  readonly tracerOf: (service: string) => Tracer | undefined;
}

type Addresses = Services["grpcAddresses"];

/** Starts all services but the gateway in this process. If that fails nothing stays open. */
export async function startServices(
  databaseUrl: string,
  options: SystemOptions,
): Promise<Services> {
  const scope = createScope();
  return scope.guard(async () => {
    const tokens = createTestTokens();
    const common = commonOptions(databaseUrl, options, tokens);
    const shared: Shared = {
      scope,
      options,
      tokens,
      common,
      tracerOf: openTracers(options, common, scope),
      bus: openBus(scope),
      kek: randomBytes(32),
      outbound: {
        outboundAllowPrivate: options.outbound?.allowPrivate ?? true,
        outboundDnsServers: options.outbound?.dnsServers,
      },
    };
    const tables = await startTables(shared);
    const integrations = await startIntegrations(shared);
    const runs = await startRuns(shared, { tables, integrations });
    const workflows = await startWorkflows(shared, runs);
    const webhooks = await startWebhooks(shared, { runs, integrations });
    const { grpcAddress, httpAddress } = webhooks;
    const grpcAddresses = { workflows, runs, tables, integrations, webhooks: grpcAddress };
    return {
      grpcAddresses,
      tokens,
      startGateway: (gatewayOptions = {}) =>
        startGateway(shared, grpcAddresses, {
          webhooksHttpAddress: httpAddress,
          ...gatewayOptions,
        }),
      stop: () => scope.close(),
    };
  });
}

function commonOptions(
  databaseUrl: string,
  { log, metricsRegistry }: SystemOptions,
  tokens: TestTokens,
) {
  const level = process.env["TEST_LOG_LEVEL"] ?? "silent";
  return {
    databaseUrl,
    databasePoolSize: 8,
    tokenPublicKeys: tokens.publicKeys,
    // Reading the protos takes a quarter of a start.
    grpcReflection: false,
    logger: log === undefined ? pino({ level }) : pino({ level: "debug" }, log),
    metricsRegistry,
  };
}

function openTracers(
  { tracing }: SystemOptions,
  { logger, metricsRegistry = new Registry() }: Shared["common"],
  scope: Scope,
): Shared["tracerOf"] {
  if (tracing === undefined) return () => undefined;
  const traces = openServiceTraces({ ...tracing, headers: undefined }, { logger, metricsRegistry });
  scope.defer(() => traces?.close());
  return (service) => traces?.tracer(service);
}

function openBus(scope: Scope): EventBus {
  const bus = createInProcessEventBus({
    consumers: {
      ...INTEGRATIONS_CONSUMERS,
      ...RUNS_CONSUMERS,
      ...GATEWAY_CONSUMERS,
      ...WEBHOOKS_CONSUMERS,
    },
  });
  scope.defer(() => bus.close());
  return bus;
}

async function startTables({ scope, common, bus, tracerOf }: Shared): Promise<string> {
  const own = { tracer: tracerOf("tables"), bus, grpcAddress: ANY_PORT };
  const tables = await startTablesService({ ...common, ...own });
  scope.defer(() => tables.stop());
  return tables.grpcAddress;
}

async function startIntegrations(shared: Shared): Promise<string> {
  const { scope, options, common, bus, kek, outbound, tracerOf } = shared;
  const { connecting = {}, agents = {} } = options;
  const integrations = await startIntegrationsService({
    ...common,
    ...connecting,
    tracer: tracerOf("integrations"),
    loadKeks: () => Promise.resolve([kek]),
    mail: options.mail,
    providers: options.providers ?? connecting.providers,
    models: {
      openai: { ...accessTo(agents.openai), model: AGENT_MODELS.openai, api: "auto" },
      anthropic: { ...accessTo(agents.anthropic), model: AGENT_MODELS.anthropic },
    },
    agentCalls: { tokensPerDay: agents.tokensPerDay },
    agentTimeoutMs: agents.timeoutMs,
    ...outbound,
    bus,
    grpcAddress: ANY_PORT,
  });
  scope.defer(() => integrations.stop());
  return integrations.grpcAddress;
}

async function startRuns(
  { scope, options, common, bus, tokens, outbound, tracerOf }: Shared,
  { tables, integrations }: Pick<Addresses, "tables" | "integrations">,
): Promise<string> {
  const tracer = tracerOf("runs");
  const peers = connectPeers(
    {
      integrationsGrpcAddress: integrations,
      tablesGrpcAddress: tables,
      tokenSigner: tokens.signerOf("runs"),
      grpcTls: undefined,
      tracer,
    },
    scope,
  );
  const runs = await startRunsService({
    ...common,
    ...options.companyLimits,
    tracer,
    role: "all",
    grpcAddress: ANY_PORT,
    bus,
    ...peers,
    ...outbound,
    workerConcurrency: 50,
    leaseMs: options.leaseMs ?? 10_000,
  });
  scope.defer(() => runs.stop());
  if (runs.grpcAddress === undefined) throw new Error("The runs service has no address.");
  return runs.grpcAddress;
}

async function startWorkflows(
  { scope, common, bus, tokens, tracerOf }: Shared,
  runsGrpcAddress: string,
): Promise<string> {
  const workflows = await startWorkflowsService({
    ...common,
    tracer: tracerOf("workflows"),
    grpcAddress: ANY_PORT,
    runsGrpcAddress,
    tokenSigner: tokens.signerOf("workflows"),
    agentModels: AGENT_MODELS,
    bus,
  });
  scope.defer(() => workflows.stop());
  return workflows.grpcAddress;
}

async function startWebhooks(
  { scope, options, common, bus, tokens, kek, outbound, tracerOf }: Shared,
  { runs, integrations }: Pick<Addresses, "runs" | "integrations">,
) {
  const webhooks = await startWebhooksService({
    ...common,
    tracer: tracerOf("webhooks"),
    ...outbound,
    loadKeks: () => Promise.resolve([kek]),
    bus,
    grpcAddress: ANY_PORT,
    httpAddress: ANY_PORT,
    runsGrpcAddress: runs,
    integrationsGrpcAddress: integrations,
    tokenSigner: tokens.signerOf("webhooks"),
    ...options.webhooks,
  });
  scope.defer(() => webhooks.stop());
  return webhooks;
}

async function startGateway(
  { scope, common, bus, tokens, tracerOf }: Shared,
  addresses: Addresses,
  more: GatewayOptions & { webhooksHttpAddress: string },
): Promise<Gateway> {
  const gateway = await startGatewayService({
    ...common,
    tracer: tracerOf("gateway"),
    ...more,
    host: "127.0.0.1",
    port: 0,
    bus,
    tokenSigner: tokens.signerOf("gateway"),
    workflowsGrpcAddress: addresses.workflows,
    runsGrpcAddress: addresses.runs,
    tablesGrpcAddress: addresses.tables,
    integrationsGrpcAddress: addresses.integrations,
    webhooksGrpcAddress: addresses.webhooks,
  });
  scope.defer(() => gateway.stop());
  return { origin: `http://127.0.0.1:${gateway.port}`, stop: () => gateway.stop() };
}

/** The access of a model's double; without a double there is no key, so that nothing is asked. */
function accessTo(double: ModelDouble | undefined) {
  return { apiKey: double?.key, baseUrl: double?.baseUrl ?? "http://127.0.0.1:1" };
}
