import { randomBytes } from "node:crypto";
import { createScope } from "@workflow/async";
import { newId, newUuid, openDatabase, sql } from "@workflow/db";
import type { Database, SqlFragment } from "@workflow/db";
import { createInProcessEventBus, parseEnvelope } from "@workflow/events";
import type { EventBus, EventEnvelope, PublishedEvent } from "@workflow/events";
import { openKeyRing } from "@workflow/sealing";
import type { KeyRing } from "@workflow/sealing";
import { createLogger } from "@workflow/service";
import { createTestDatabase, createTestTokens } from "@workflow/testkit";
import { z } from "zod";
import { sealEndpointSecrets, sealOldSecret } from "../../src/secrets/endpoint-secrets.ts";
import { EVENT_CONSUMERS, startWebhooksService } from "../../src/service.ts";
import type { RunningService, WebhooksServiceOptions } from "../../src/service.ts";
import { announceEndpoint } from "../../src/store/lanes.ts";
import { RunEventsDouble } from "./run-events-double.ts";

const nothing = z.object({});
const deliveryRow = z.object({
  id: z.string(),
  eventId: z.string(),
  status: z.string(),
  attemptCount: z.number(),
  maxAttempts: z.number(),
  lastStatusCode: z.number().nullable(),
  lastError: z.string().nullable(),
  nextInMs: z.number().nullable(),
  attempts: z.array(
    z.object({
      number: z.number(),
      at: z.string(),
      url: z.string(),
      statusCode: z.number().nullable(),
      durationMs: z.number(),
      error: z.string().nullable(),
      responseBody: z.string().nullable(),
    }),
  ),
});
const endpointRow = z.object({
  status: z.string(),
  disabledReason: z.string().nullable(),
  consecutiveFailures: z.number(),
});

/** An endpoint of a test. */
export interface EndpointSpec {
  companyId: string;
  url: string;
  events?: readonly string[];
  workflowIds?: readonly string[];
  rateLimitPerSecond?: number;
  headers?: Record<string, string>;
  /** A secret that was replaced a moment ago, and still signs. */
  oldSecret?: string;
}

/** A stored delivery. */
export type StoredDelivery = z.output<typeof deliveryRow>;

/** A webhooks service on a database of its own, with the runs service as a double. */
export interface OutboundHarness {
  runs: RunEventsDouble;
  database: Database;
  bus: EventBus;
  newSecret(): string;
  addEndpoint(spec: EndpointSpec): Promise<{ endpointId: string; secret: string }>;
  /** Changes the URL as the endpoints' RPC does. */
  setUrl(companyId: string, endpointId: string, url: string): Promise<void>;
  activate(companyId: string, endpointId: string): Promise<void>;
  /** Publishes events of runs, as the runs service does. */
  publish(events: readonly EventEnvelope[]): Promise<void>;
  deliveries(endpointId: string): Promise<readonly StoredDelivery[]>;
  endpoint(endpointId: string): Promise<z.output<typeof endpointRow>>;
  /** Starts one more service on the same database. */
  startAnother(bus?: EventBus): Promise<RunningService>;
  close(): Promise<void>;
}

/** Starts the service; the delays between attempts are short unless the test gives others. */
export async function startOutboundHarness(
  options: Partial<WebhooksServiceOptions> = {},
): Promise<OutboundHarness> {
  const scope = createScope();
  return scope.guard(async () => {
    const testDatabase = await createTestDatabase();
    scope.defer(() => testDatabase.close());
    const database = await openDatabase({
      connectionUri: testDatabase.connectionUri,
      applicationName: "outbound-test",
    });
    scope.defer(() => database.end());
    const tokens = createTestTokens();
    const runs = new RunEventsDouble(tokens.publicKeys);
    const runsGrpcAddress = await runs.start();
    scope.defer(() => runs.close());
    const keks = [randomBytes(32)];
    const loadKeks = (): Promise<readonly Buffer[]> => Promise.resolve(keks);
    const bus = createInProcessEventBus({ consumers: EVENT_CONSUMERS });
    scope.defer(() => bus.close());
    const startAnother = (otherBus: EventBus = bus): Promise<RunningService> =>
      startWebhooksService({
        grpcAddress: "127.0.0.1:0",
        httpAddress: "127.0.0.1:0",
        loadKeks,
        bus: otherBus,
        runsGrpcAddress,
        integrationsGrpcAddress: "127.0.0.1:1",
        tokenSigner: tokens.signerOf("webhooks"),
        databaseUrl: testDatabase.connectionUri,
        databasePoolSize: 6,
        tokenPublicKeys: tokens.publicKeys,
        outboundAllowPrivate: true,
        publicUrl: "https://workflows.example.com",
        retryDelaysMs: [50, 50, 50, 50, 50, 50, 50, 50],
        logger: createLogger({ name: "webhooks", level: "silent" }),
        ...options,
      });
    const service = await startAnother();
    scope.defer(() => service.stop());
    const ring = await openKeyRing(database, "webhooks", loadKeks);
    return {
      runs,
      database,
      bus,
      newSecret,
      addEndpoint: (spec) => addEndpoint(database, ring, spec),
      setUrl: (companyId, endpointId, url) =>
        changeEndpoint(database, { companyId, endpointId }, sql.fragment`url = ${url}`),
      activate: (companyId, endpointId) =>
        changeEndpoint(database, { companyId, endpointId }, ACTIVE),
      publish: (events) => bus.publish(events.map(toPublished)),
      deliveries: (endpointId) => listDeliveries(database, endpointId),
      endpoint: (endpointId) => getEndpoint(database, endpointId),
      startAnother,
      close: () => scope.close(),
    };
  });
}

const ACTIVE = sql.fragment`
  status = 'active', disabled_reason = null, disabled_at = null, consecutive_failures = 0
`;

async function changeEndpoint(
  database: Database,
  { companyId, endpointId }: { companyId: string; endpointId: string },
  change: SqlFragment,
): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query(sql.type(nothing)`
      update webhooks.endpoints set ${change} where id = ${endpointId}
    `);
    await announceEndpoint(transaction, { companyId, endpointId });
  });
}

function getEndpoint(database: Database, endpointId: string) {
  return database.one(sql.type(endpointRow)`
    select status, disabled_reason as "disabledReason",
      consecutive_failures as "consecutiveFailures"
    from webhooks.endpoints where id = ${endpointId}
  `);
}

/** An event of a run, as the runs service publishes it. */
export function runEvent(
  companyId: string,
  data: Record<string, unknown> = {},
  type = "workflow.completed",
): EventEnvelope & { data: { runId: string; workflowId: string } } {
  const now = new Date().toISOString();
  const isOver = type !== "workflow.started" && type !== "workflow.checkpoint";
  return {
    id: newId("evt_"),
    type,
    timestamp: now,
    companyId,
    data: {
      workflowId: newUuid(),
      workflowName: "Orders",
      workflowVersion: 1,
      runId: newId("run_"),
      status: isOver ? type.slice("workflow.".length) : "running",
      triggerType: "api",
      createdAt: now,
      startedAt: now,
      completedAt: isOver ? now : null,
      durationMs: isOver ? 12 : null,
      ...data,
    },
  };
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

async function addEndpoint(
  database: Database,
  ring: KeyRing,
  {
    companyId,
    url,
    events,
    workflowIds,
    rateLimitPerSecond,
    headers = {},
    oldSecret,
  }: EndpointSpec,
): Promise<{ endpointId: string; secret: string }> {
  const endpointId = newId("whe_");
  const secret = newSecret();
  const place = { companyId, endpointId };
  const { companyKeyId, sealed } = await sealEndpointSecrets(database, ring, place, {
    secret,
    headers,
  });
  const old =
    oldSecret === undefined ? null : await sealOldSecret(database, ring, place, oldSecret);
  await database.query(sql.type(nothing)`
    insert into webhooks.endpoints (
      id, company_id, name, url, events, workflow_ids, rate_limit_per_second, company_key_id,
      sealed, sealed_old_secret, old_secret_expires_at
    ) values (
      ${endpointId}, ${companyId}, 'Test', ${url},
      ${events === undefined ? null : sql.array([...events], "text")},
      ${workflowIds === undefined ? null : sql.array([...workflowIds], "text")},
      ${rateLimitPerSecond ?? null}, ${companyKeyId}, ${sql.binary(sealed)},
      ${old === null ? null : sql.binary(old.sealed)},
      ${old === null ? null : new Date(Date.now() + 60_000).toISOString()}
    )
  `);
  return { endpointId, secret };
}

async function listDeliveries(
  database: Database,
  endpointId: string,
): Promise<readonly StoredDelivery[]> {
  return database.any(sql.type(deliveryRow)`
    select id, event_id as "eventId", status, attempt_count as "attemptCount",
      max_attempts as "maxAttempts", last_status_code as "lastStatusCode",
      last_error as "lastError",
      (extract(epoch from next_attempt_at - now()) * 1000)::float8 as "nextInMs", attempts
    from webhooks.deliveries where endpoint_id = ${endpointId}
    order by id
  `);
}

function toPublished(event: EventEnvelope): PublishedEvent {
  const body = JSON.stringify(event);
  if (parseEnvelope(body) === null) throw new Error("An event of a test is none.");
  return { id: event.id, stream: "runs", type: event.type, body };
}
