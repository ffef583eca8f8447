import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { createAuditTrail } from "@workflow/audit";
import { createCursorCodec, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createDeadLetters } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import type { IssuerKeys, RpcTls } from "@workflow/rpc";
import { openKeyRing } from "@workflow/sealing";
import type { LoadKeks } from "@workflow/sealing";
import { CompanyWrites, watchPool } from "@workflow/service";
import type { ProviderSettings } from "@workflow/service";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { startPauses } from "./actions/pauses.ts";
import { createRefusedCredentials } from "./actions/renew-refused.ts";
import { openAgentCalls } from "./agents/executions/open-agent-calls.ts";
import type { AgentCallOptions } from "./agents/executions/open-agent-calls.ts";
import { EvaluationPlaces } from "./agents/evaluation/evaluation-places.ts";
import { openLazyExpressions } from "./agents/evaluation/lazy-expressions.ts";
import { createModels } from "./agents/models/create-models.ts";
import { defaultModelSettings } from "./agents/models/model-settings.ts";
import type { ModelSettings } from "./agents/models/model-settings.ts";
import { createPrepareQuestion } from "./agents/prepare-question.ts";
import { composePrompt } from "./agents/prompt/compose-prompt.ts";
import { createAuthorization } from "./authorization/authorization.ts";
import type { CallbackWaits } from "./authorization/complete-authorization.ts";
import { BROKER_ID } from "./authorization/nango.ts";
import type { Broker, BrokerOptions } from "./authorization/nango.ts";
import { startLeftoverRemoval } from "./authorization/remove-leftovers.ts";
import { startRenewals } from "./authorization/renew-ahead.ts";
import { startRevocations } from "./authorization/revoke-queued.ts";
import { startSubscriptions } from "./authorization/subscribe-accounts.ts";
import { startAttemptSweep } from "./authorization/sweep.ts";
import { createLoginTokens } from "./connections/login-tokens.ts";
import type { RenewalsUnderWay } from "./connections/renew-access.ts";
import { startConnectionAccess } from "./connections/start-access.ts";
import type { ServiceContext } from "./context.ts";
import { openMail } from "./email/mail.ts";
import type { MailOptions } from "./email/mail.ts";
import { forgetArchivedWorkflows } from "./events/forget-archived.ts";
import { createFileLoader } from "./files/file-loader.ts";
import { createProviderHttp } from "./provider-http/provider-http.ts";
import { createServer } from "./server.ts";
import { getCursorKey } from "./store/cursor-key.ts";
import { createUseRecorder } from "./use-recorder.ts";
import type { UseRecorder } from "./use-recorder.ts";

/** The dependencies and the settings of the service. */
export interface IntegrationsServiceOptions {
  databaseUrl: string;
  databasePoolSize: number;
  /** Loads the keys of SECRETS_KEK; the first one encrypts. It is called again when a key is missing. */
  loadKeks: LoadKeks;
  /** The bus of other services' events, and of the service's own. */
  bus: EventBus;
  /** The mail server. Without one, steps that send e-mail through it fail. */
  mail?: MailOptions | undefined;
  /** The operator's settings of each provider, by its id. */
  providers?: ReadonlyMap<string, ProviderSettings> | undefined;
  /** Lets tenants name http and private or loopback hosts; for development and tests. */
  outboundAllowPrivate?: boolean | undefined;
  /** Name servers for hosts that tenants name; those of the machine by default. */
  outboundDnsServers?: readonly string[] | undefined;
  /** NAT64 prefixes of the network besides the known ones. */
  outboundNat64Prefixes?: readonly string[] | undefined;
  /** The OAuth broker; without one, the applications in `providers` connect accounts. */
  broker?: BrokerOptions | null | undefined;
  /** The models that agents use; by default those of the default settings, without keys. */
  models?: ModelSettings | undefined;
  /** The time limit of one exchange with an AI provider, in milliseconds; 120 s by default. */
  agentTimeoutMs?: number | undefined;
  /**
   * The time limit of an answer from a provider or the broker when accounts are connected or renewed,
   * in milliseconds; 10 s by default.
   */
  answerTimeoutMs?: number | undefined;
  /**
   * The time for which callbacks of one attempt wait for each other. By default it stays below 45 s,
   * their own requests included.
   */
  callbackWaits?: CallbackWaits | undefined;
  /** Limits of questions to agents; none by default. */
  agentCalls?: AgentCallOptions | undefined;
  /** The time limit of an agent's evaluation; 5 min by default. */
  evaluationTimeoutMs?: number | undefined;
  /** The address for gRPC: `host:port`, port 0 for a free one, or `unix:/path`. */
  grpcAddress: string;
  /** The issuers whose tokens are accepted. */
  tokenPublicKeys: IssuerKeys;
  /** Whether reflection is served; by default only on loopback addresses and unix sockets. */
  grpcReflection?: boolean | undefined;
  grpcTls?: RpcTls | undefined;
  logger: Logger;
  /** The registry of request metrics; there are no metrics by default. */
  metricsRegistry?: Registry | undefined;
  /** Makes the spans of recorded traces; without one there are none. */
  tracer?: Tracer | undefined;
}

/** A service that accepts calls. */
export interface RunningService {
  /** The bound address. */
  grpcAddress: string;
  /** Finishes running calls and releases everything. */
  stop(): Promise<void>;
}

type ConnectionParts = Pick<ServiceContext, "database" | "writes" | "ring" | "providerHttp">;

const DATABASE_ROLE = "workflow_integrations";
const USES_FLUSH_MS = 3_000;
const AGENT_TIMEOUT_MS = 120_000;

/**
 * Starts the service. A failed start leaves nothing open.
 *
 * @throws AppError UNAVAILABLE when the database cannot be reached
 * @throws ConfigError when SECRETS_KEK lacks a key that stored secrets need, or a mail setting is wrong
 * @throws Error when the address is taken
 */
export async function startIntegrationsService(
  options: IntegrationsServiceOptions,
): Promise<RunningService> {
  const { logger } = options;
  const scope = createScope();
  return scope.guard(async () => {
    const stored = await openStore(options, scope);
    const { outbound, ...clients } = openClients(options, scope);
    const connections = await openConnections({ ...stored, ...clients }, options, scope);
    const agents = openAgents(stored.database, outbound, options, scope);
    const audit = openAudit(stored.database, options, scope);
    const { connecting, ...opened } = connections;
    const parts = { ...stored, ...clients, ...opened, ...agents, audit, logger };
    const loops = startConnectionLoops(parts, connecting.broker, scope);
    const server = createServer(
      {
        ...parts,
        ...loops,
        attemptPage: connecting.attemptPage,
        authorization: connecting.withAudit(audit),
        expressions: openLazyExpressions(logger, options.metricsRegistry, scope),
      },
      options,
    );
    scope.defer(() => server.close());
    const bound = await server.listen(options.grpcAddress);
    server.setServing(true);
    // Scopes close in reverse: this runs before the server ends the calls.
    scope.defer(() => agents.heldCalls.stopping());
    return { grpcAddress: bound.address, stop: () => scope.close() };
  });
}

/** Opens the database, and the parts that depend on the database alone. */
async function openStore(options: IntegrationsServiceOptions, scope: Scope) {
  const { logger, metricsRegistry } = options;
  const database = await openDatabase({
    connectionUri: options.databaseUrl,
    role: DATABASE_ROLE,
    maxConnections: options.databasePoolSize,
    applicationName: "workflow-integrations",
    onError: (error) => logger.warn({ err: error }, "an idle database connection broke"),
  });
  scope.defer(() => database.end());
  scope.defer(watchPool(metricsRegistry, "integrations", database));
  const writes = new CompanyWrites(database, options.databasePoolSize);
  const ring = await openKeyRing(database, "integrations", options.loadKeks);
  const deadLetters = createDeadLetters({
    database,
    schema: "integrations",
    logger,
    metricsRegistry,
  });
  const archived = await forgetArchivedWorkflows(database, options.bus, deadLetters);
  scope.defer(() => archived.close());
  const uses = startUseRecorder(database, logger, scope);
  const mail = openMail(database, options.mail ?? {}, logger, scope);
  const cursors = createCursorCodec(await getCursorKey(database));
  return { database, writes, ring, uses, mail, cursors };
}

/** Opens the clients for external hosts. */
function openClients(options: IntegrationsServiceOptions, scope: Scope) {
  const { providers = new Map(), broker = null } = options;
  const outbound = {
    allowPrivate: options.outboundAllowPrivate ?? false,
    dnsServers: options.outboundDnsServers,
    nat64Prefixes: options.outboundNat64Prefixes,
    tracer: options.tracer,
  };
  const settings = withBroker(providers, broker);
  const providerHttp = createProviderHttp({ ...outbound, settings });
  scope.defer(() => providerHttp.close());
  const files = createFileLoader(outbound);
  scope.defer(() => files.close());
  return { outbound, providerHttp, files };
}

/** Opens the parts that connect accounts, renew their credentials and decrypt them for calls. */
async function openConnections(
  { database, writes, ring, providerHttp }: ConnectionParts,
  options: IntegrationsServiceOptions,
  scope: Scope,
) {
  const { logger, providers = new Map(), broker = null } = options;
  const connecting = createAuthorization({
    database,
    writes,
    ring,
    providerHttp,
    providers,
    broker,
    answerTimeoutMs: options.answerTimeoutMs,
    callbackWaits: options.callbackWaits,
    logger,
  });
  const { flow } = connecting;
  const tokens = createLoginTokens(providerHttp);
  const renewals: RenewalsUnderWay = new Map();
  const access = await startConnectionAccess(
    { database, ring, flow, tokens, renewals },
    { databaseUrl: options.databaseUrl, role: DATABASE_ROLE, logger },
    scope,
  );
  startSubscriptions({ database, access, providerHttp, providers, logger }, scope);
  const pauses = startPauses(database, logger, scope);
  const refused = createRefusedCredentials({ database, ring, flow, tokens, renewals, access });
  return { connecting, flow, tokens, renewals, access, pauses, refused };
}

/** Opens the models, and the parts that calls of agents need. */
function openAgents(
  database: Database,
  outbound: ReturnType<typeof openClients>["outbound"],
  options: IntegrationsServiceOptions,
  scope: Scope,
) {
  const { logger, agentTimeoutMs: exchangeTimeoutMs = AGENT_TIMEOUT_MS } = options;
  const models = createModels({
    ...(options.models ?? defaultModelSettings()),
    ...outbound,
    logger,
  });
  scope.defer(() => models.close());
  return {
    models,
    prepareQuestion: createPrepareQuestion({ models, composePrompt, exchangeTimeoutMs }),
    evaluations: new EvaluationPlaces(options.evaluationTimeoutMs),
    ...openAgentCalls(database, options.agentCalls ?? {}, options, scope),
  };
}

function openAudit(
  database: Database,
  { bus, logger, metricsRegistry }: IntegrationsServiceOptions,
  scope: Scope,
) {
  const audit = createAuditTrail({
    database,
    schema: "integrations",
    bus,
    logger,
    metricsRegistry,
  });
  scope.defer(() => audit.stop());
  return audit;
}

/**
 * Starts the loops that renew credentials, revoke access, and remove what ended attempts left at the
 * broker.
 */
function startConnectionLoops(
  context: Pick<ServiceContext, "database" | "ring" | "flow" | "tokens" | "renewals" | "logger">,
  broker: Broker | null,
  scope: Scope,
): Pick<ServiceContext, "leftovers" | "revocations"> {
  const { database, ring, flow, logger } = context;
  startAttemptSweep(database, logger, scope);
  const leftovers = startLeftoverRemoval({ database, broker, logger }, scope);
  startRenewals(context, scope);
  const revocations = startRevocations({ database, ring, flow, logger }, scope);
  return { leftovers, revocations };
}

/** The operator sets the broker's address, as a provider's base URL, so the address may be private. */
function withBroker(
  providers: ReadonlyMap<string, ProviderSettings>,
  broker: BrokerOptions | null,
): ReadonlyMap<string, ProviderSettings> {
  if (broker === null) return providers;
  return new Map(providers).set(BROKER_ID, { baseUrl: broker.baseUrl });
}

function startUseRecorder(database: Database, logger: Logger, scope: Scope): UseRecorder {
  const recorder = createUseRecorder(database);
  scope.defer(() =>
    recorder.flush().catch((error: unknown) => {
      logger.warn({ err: error }, "the last uses of secrets were not recorded");
    }),
  );
  scope.loop({
    name: "secrets-last-used",
    intervalMs: USES_FLUSH_MS,
    logger,
    run: () => recorder.flush(),
  });
  return recorder;
}

export { EVENT_CONSUMERS } from "./events/forget-archived.ts";
