import { backoffMs, halfRandom } from "@workflow/async";
import type { Database } from "@workflow/db";
import { toAppError } from "@workflow/errors";
import type {
  StartTriggeredRunsResult,
  TriggersServiceService,
  TriggeringEvent,
} from "@workflow/proto/runs/v1/triggers";
import type { RpcCallOptions, RpcClient } from "@workflow/rpc";
import type { Logger } from "pino";
import { webhooksWith } from "../../service-identity.ts";
import { settleEvents } from "../../store/settle-inbound-events.ts";
import type { Settlement } from "../../store/settle-inbound-events.ts";
import { HourlyBudget } from "./hourly-budget.ts";

/** An event whose runs are to be started. */
export interface StartableEvent {
  id: string;
  companyId: string;
  provider: string;
  /** The path of the custom route; null for events of providers. */
  path: string | null;
  payloadJson: string;
  /** JSON text of an object. */
  triggerJson: string;
  requestId: string | null;
  /** The trace context of the request. It is not stored, so an event that is handled later has none. */
  traceparent?: string | undefined;
  /** Tries, this one included. */
  attempts: number;
  createdAt: Date;
}

/** The limits of one call: its maximum of events, and far fewer bytes than a message may have. */
export const START_EVENTS_MAX = 100;
export const START_BYTES_MAX = 8 * 1024 * 1024;
/** Less than the lease of an event. */
const START_TIMEOUT_MS = 8_000;
const TRIES_MAX = 20;
/** The runs service remembers started events for 8 days. */
const AGE_MAX_MS = 7 * 24 * 60 * 60 * 1000;
const RETRIES = { firstMs: 2_000, maxMs: 10 * 60 * 1000 } as const;
/** The pause while another service is unavailable. */
const AWAY_RETRY_MS = 5_000;
const LIMITED_RETRY_MS = 15_000;
/** The limit of kept bytes per hour for paths without a waiting workflow: anybody can post to them. */
const IGNORED_BYTES_PER_COMPANY = 64 * 1024 * 1024;

/** Starts the runs of events and records the outcomes. */
export class EventStarter {
  readonly #database: Database;
  readonly #triggers: RpcClient<TriggersServiceService>;
  readonly #logger: Logger;
  readonly #ignoredBytes = new HourlyBudget(IGNORED_BYTES_PER_COMPANY);

  constructor(database: Database, triggers: RpcClient<TriggersServiceService>, logger: Logger) {
    this.#database = database;
    this.#triggers = triggers;
    this.#logger = logger;
  }

  /**
   * Starts the runs of at most 100 events, 8 MiB together, and returns the number of each event's runs.
   * Events whose runs could not be started are left for later. It never rejects: an unrecorded outcome
   * is repeated.
   */
  async start(events: readonly StartableEvent[]): Promise<ReadonlyMap<string, number>> {
    if (events.length === 0) return new Map();
    const settlements = await this.#settle(events);
    try {
      await settleEvents(this.#database, settlements);
    } catch (error) {
      this.#logger.warn({ err: error, events: events.length }, "started events were not settled");
    }
    return new Map(settlements.map((settlement) => [settlement.id, runCountOf(settlement)]));
  }

  async #settle(events: readonly StartableEvent[]): Promise<Settlement[]> {
    try {
      const { results } = await this.#triggers.startTriggeredRuns(
        { events: events.map(toTriggeringEvent) },
        {
          identity: webhooksWith("internal:triggers"),
          ...causeOf(events),
          timeoutMs: START_TIMEOUT_MS,
        },
      );
      return events.map((event, place) => this.#toSettlement(event, results[place]));
    } catch (error) {
      this.#logger.warn({ err: error, events: events.length }, "events could not start their runs");
      const { reason, message } = toAppError(error);
      if (reason === "UNAVAILABLE" || reason === "EXECUTION_TIMEOUT") {
        return events.map((event) => postpone(event, message, AWAY_RETRY_MS));
      }
      const half = Math.ceil(events.length / 2);
      if (half === events.length) return events.map((event) => scheduleRetry(event, message));
      // One event may be the cause of the failure and must not block the others.
      const first = await this.#settle(events.slice(0, half));
      return [...first, ...(await this.#settle(events.slice(half)))];
    }
  }

  #toSettlement(event: StartableEvent, result: StartTriggeredRunsResult | undefined): Settlement {
    const { id, companyId } = event;
    if (result === undefined) return scheduleRetry(event, "The runs service has not answered.");
    const { failure, runs } = result;
    if (failure !== undefined) {
      const { reason, message, retryAfterMs } = failure;
      switch (reason) {
        case "RATE_LIMITED":
          return postpone(event, message, Math.max(retryAfterMs, LIMITED_RETRY_MS));
        case "UNAVAILABLE":
          return postpone(event, message, Math.max(retryAfterMs, AWAY_RETRY_MS));
        case "BAD_REQUEST":
        case "VALIDATION_ERROR":
        case "PAYLOAD_TOO_LARGE":
          return { id, status: "failed", error: message };
        default:
          return scheduleRetry(event, message);
      }
    }
    if (runs.length > 0) return { id, status: "processed", started: runs };
    const bytes = event.payloadJson.length + event.triggerJson.length;
    return { id, status: "ignored", keepsPayload: this.#ignoredBytes.take(companyId, bytes) };
  }
}

/** A shared call has the ids of one event, preferably of one whose trace is recorded. */
function causeOf(
  events: readonly StartableEvent[],
): Pick<RpcCallOptions, "requestId" | "traceparent"> {
  const traced = events.find(({ traceparent }) => traceparent !== undefined);
  const { requestId, traceparent } = traced ?? events[0] ?? {};
  return { requestId: requestId ?? undefined, traceparent };
}

/** The characters of an event in a call. */
export function bytesOf({ payloadJson, triggerJson }: StartableEvent): number {
  return payloadJson.length + triggerJson.length;
}

/** The outcome of a try that failed: another try, or failure after 20 tries. */
export function scheduleRetry(
  { id, attempts }: Pick<StartableEvent, "id" | "attempts">,
  error: string,
): Settlement {
  if (attempts >= TRIES_MAX) return { id, status: "failed", error };
  const retryInMs = backoffMs(attempts, RETRIES);
  return { id, status: "received", error, retryInMs, countsAsTry: true };
}

/**
 * Another try because another service is unavailable. The try does not count, but events are not kept
 * for ever.
 */
export function postpone(
  { id, createdAt }: Pick<StartableEvent, "id" | "createdAt">,
  error: string,
  retryInMs: number,
): Settlement {
  if (Date.now() - createdAt.getTime() > AGE_MAX_MS) return { id, status: "failed", error };
  return { id, status: "received", error, retryInMs: halfRandom(retryInMs), countsAsTry: false };
}

function toTriggeringEvent(event: StartableEvent): TriggeringEvent {
  const { id, companyId, provider, path, payloadJson, triggerJson } = event;
  const { requestId, traceparent } = event;
  const known = JSON.stringify({ type: "webhook", provider, eventId: id });
  const more = triggerJson.trim().slice(1, -1);
  return {
    companyId,
    eventId: id,
    source: path === null ? { $case: "provider", value: provider } : { $case: "path", value: path },
    inputJson: payloadJson,
    triggerJson: more.trim() === "" ? known : `${known.slice(0, -1)},${more}}`,
    requestId: requestId ?? undefined,
    traceparent,
  };
}

function runCountOf(settlement: Settlement): number {
  return settlement.status === "processed" ? settlement.started.length : 0;
}
