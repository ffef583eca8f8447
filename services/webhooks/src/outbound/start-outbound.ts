import { answerTogether, Batcher, Turns } from "@workflow/async";
import type { Scope } from "@workflow/async";
import type { AuditTrail } from "@workflow/audit";
import { listen } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createDeadLetters } from "@workflow/events";
import type { SafeHttpClient } from "@workflow/http-client";
import type { KeyRing } from "@workflow/sealing";
import type { WebhooksServiceOptions } from "../options.ts";
import { listWaiting } from "../store/deliveries.ts";
import type { LaneReading, WaitingDelivery } from "../store/deliveries.ts";
import { LANES_CHANNEL } from "../store/lanes.ts";
import { clearLeftDeliveries } from "./left-deliveries.ts";
import { createEndpointDisabler } from "./disable-endpoint.ts";
import { EventBodies } from "./event-bodies.ts";
import { FanOut } from "./fan-out.ts";
import { createIngest } from "./ingest.ts";
import type { LaneContext } from "./lane-context.ts";
import { Lanes } from "./lanes.ts";
import { deliveryMetrics, measureLanes } from "./metrics.ts";
import { createEndpointReader } from "./open-endpoint.ts";
import { reconcile } from "./reconcile.ts";
import { ResultWriter } from "./result-writer.ts";
import { keepWeeks } from "./retention.ts";
import { createRunEventsClient } from "./run-events-client.ts";
import type { RunEventsClient } from "./run-events-client.ts";

/** The durable name of the consumer of runs' events. */
const CONSUMER = "webhooks-deliveries";

/** The streams that the service consumes. */
export const EVENT_CONSUMERS = { runs: [CONSUMER] };

/** The number of events that are stored at the same time. They share statements. */
const ARRIVING_MAX = 256;
const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;
const RETENTION_DAYS = 30;
const PENDING_MAX = 1_000_000;
const LANES_READ_MAX = 128;

/** The pauses of D46, in milliseconds. */
const RETRY_DELAYS_MS = [
  10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000, 86_400_000,
] as const;

/**
 * The limits of running attempts: at most 128 of a company and 1,024 in all (D57). Attempts to
 * receivers that failed last have limits of their own, because most of them wait for a timeout.
 */
const PLACES = { perTenant: 64, total: 512 } as const;
/** The limit of bytes in bodies that are being sent. */
const ROOM = { perTenant: 16 * MIB, total: 64 * MIB } as const;

/** The parts of the service that deliveries need. */
interface OutboundParts {
  database: Database;
  ring: KeyRing;
  http: SafeHttpClient;
  audit: AuditTrail;
}

/** Delivers the events of runs until the scope closes. */
export async function startOutbound(
  options: WebhooksServiceOptions,
  context: OutboundParts,
  scope: Scope,
): Promise<void> {
  const { logger, metricsRegistry, retentionDays = RETENTION_DAYS } = options;
  const { database, audit } = context;
  const stopping = new AbortController();
  const metrics = deliveryMetrics(metricsRegistry);
  const bodies = new EventBodies(database, metricsRegistry);
  const runs = connectRuns(options, scope);
  const disabler = createEndpointDisabler({
    database,
    audit,
    logger,
    retentionDays,
    onEvent: () => fanOut.wake(),
  });
  const shared = { options, context, bodies, disabler, onOutcome: metrics.onOutcome };
  const breakingOff = new AbortController();
  const lanes = new Lanes({
    database,
    logger,
    context: (holdsLeases) => ({
      ...laneContext(shared),
      results: new ResultWriter({ database, disabler, logger, signal: breakingOff.signal }),
      holdsLeases,
      stopping: stopping.signal,
      breakingOff: breakingOff.signal,
    }),
  });
  const fanOut = new FanOut({
    database,
    runs,
    lanes,
    bodies,
    logger,
    maxAttempts: (options.retryDelaysMs ?? RETRY_DELAYS_MS).length,
    publicUrl: options.publicUrl ?? null,
    pendingMax: options.pendingDeliveriesMax ?? PENDING_MAX,
    onFailed: metrics.onGivenUp,
  });
  scope.defer(async () => {
    await fanOut.stop();
    stopping.abort();
    await lanes.stop(() => breakingOff.abort());
  });
  await followLanes(options, lanes, scope);
  const ingest = createIngest({ database, retentionDays, fanOut });
  startUpkeep(options, { database, runs, ingest, lanes, metrics, stopping }, scope);
  await consumeRunEvents(options, { database, ingest }, scope);
}

/** Starts the background work beside deliveries; it stops with the scope. */
function startUpkeep(
  options: WebhooksServiceOptions,
  { database, runs, ingest, lanes, metrics, stopping }: UpkeepParts,
  scope: Scope,
): void {
  const { logger, metricsRegistry, retentionDays = RETENTION_DAYS } = options;
  const upkeep = { database, logger, signal: stopping.signal };
  const loops = [
    reconcile({
      ...upkeep,
      runs,
      ingest,
      intervalMs: options.compareIntervalMs ?? MINUTE_MS,
      onMissing: metrics.onMissing,
    }),
    clearLeftDeliveries(upkeep),
    keepWeeks({ ...upkeep, retentionDays, intervalMs: options.retentionIntervalMs }),
    ...(metricsRegistry === undefined
      ? []
      : [measureLanes(metricsRegistry, { ...upkeep, held: () => lanes.held })]),
  ];
  scope.defer(async () => {
    stopping.abort();
    await Promise.all(loops.map(({ done }) => done));
  });
}

/** The parts that the background work needs. */
interface UpkeepParts {
  database: Database;
  runs: RunEventsClient;
  ingest: ReturnType<typeof createIngest>;
  lanes: Lanes;
  metrics: ReturnType<typeof deliveryMetrics>;
  stopping: AbortController;
}

function connectRuns(options: WebhooksServiceOptions, scope: Scope): RunEventsClient {
  const runs = createRunEventsClient({
    address: options.runsGrpcAddress,
    tokenSigner: options.tokenSigner,
    tls: options.grpcTls,
    tracer: options.tracer,
  });
  scope.defer(() => runs.close());
  return runs;
}

/** Receives the ids of changed endpoints from all processes. */
async function followLanes(
  options: WebhooksServiceOptions,
  lanes: Lanes,
  scope: Scope,
): Promise<void> {
  const { logger } = options;
  const listener = await listen({
    connectionUri: options.databaseUrl,
    role: "workflow_webhooks",
    channels: [LANES_CHANNEL],
    onNotification: (_channel, endpointId) => lanes.change(endpointId),
    onReconnect: () => lanes.poll(),
    onError: (error) => logger.warn({ err: error }, "could not listen for changes of endpoints"),
  });
  scope.defer(() => listener.stop());
}

/** Stores the events of runs that the bus delivers. */
async function consumeRunEvents(
  options: WebhooksServiceOptions,
  { database, ingest }: { database: Database; ingest: ReturnType<typeof createIngest> },
  scope: Scope,
): Promise<void> {
  const { logger, metricsRegistry } = options;
  const deadLetters = createDeadLetters({ database, schema: "webhooks", logger, metricsRegistry });
  const subscription = await options.bus.subscribe({
    stream: "runs",
    consumer: CONSUMER,
    maxInFlight: ARRIVING_MAX,
    deadLetters,
    tracer: options.tracer,
    handler: (event) => ingest.put(event),
  });
  scope.defer(() => subscription.close());
}

interface SharedParts {
  options: WebhooksServiceOptions;
  context: OutboundParts;
  bodies: EventBodies;
  onOutcome: LaneContext["onOutcome"];
}

function laneContext({
  options,
  context,
  bodies,
  onOutcome,
}: SharedParts): Omit<LaneContext, "results" | "holdsLeases" | "stopping" | "breakingOff"> {
  const { database, ring, http } = context;
  const waiting = new Batcher<LaneReading, readonly WaitingDelivery[]>({
    itemsMax: LANES_READ_MAX,
    batchesMax: 1,
    handle: answerTogether(async (readings) => {
      const found = await listWaiting(database, readings);
      const byEndpoint = Map.groupBy(found, ({ endpointId }) => endpointId);
      return readings.map(({ endpointId }) => byEndpoint.get(endpointId) ?? []);
    }),
  });
  return {
    http,
    tracer: options.tracer,
    endpoints: createEndpointReader(database, ring),
    bodies,
    waiting,
    places: new Turns(PLACES),
    waryPlaces: new Turns(PLACES),
    room: new Turns(ROOM),
    retryDelaysMs: options.retryDelaysMs ?? RETRY_DELAYS_MS,
    onOutcome,
  };
}
