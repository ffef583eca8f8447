import { AppError } from "@workflow/errors";
import { loop } from "@workflow/service";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { claimArrived, deferArrived, deleteArrived } from "../store/event-inbox.ts";
import type { ArrivedEvent, ClaimedEvent } from "../store/event-inbox.ts";
import { Arrivals } from "./arrivals.ts";
import { startTriggeredRuns } from "./start-triggered-runs.ts";
import type { TriggerDependencies, TriggeringEvent } from "./start-triggered-runs.ts";

/** What the inbox works with. */
export interface EventInboxOptions extends TriggerDependencies {
  logger: Logger;
  /** What a stored event starts; null when it can't be read. */
  read: (event: string) => Promise<TriggeringEvent | null>;
}

/**
 * The queue of events whose runs are not started yet. Events are stored as they arrive, so that the bus
 * need not deliver them again. They are taken in turns between companies (D57).
 */
export interface EventInbox {
  /** Resolves when the event can't be lost any more. */
  put(event: ArrivedEvent): Promise<void>;
  /** Finishes the events that were taken out. */
  stop(): Promise<void>;
}

/** Events that are handled at the same time. The limit leaves connections of the pool to callers. */
const AT_A_TIME = 4;
const LEASE_MS = 30_000;
/**
 * The longest time between two polls. It finds events that another process has stored, or left behind.
 */
const POLL_MS = 1_000;
/** The pause of a company with a full backlog; it doubles. */
const PAUSE_MS = { first: 1_000, most: 30_000 } as const;
/** The pause of an event that failed; it doubles. */
const RETRY_MS = { first: 250, most: 60_000 } as const;
const COMPANIES_MAX = 10_000;

type Outcome = "done" | { delayMs: number; failed: boolean };

interface Pause {
  until: number;
  lengthMs: number;
}

/** @see EventInbox */
export function startEventInbox(options: EventInboxOptions): EventInbox {
  const { database, logger } = options;
  const stopping = new AbortController();
  const pauses = new LRUCache<string, Pause>({ max: COMPANIES_MAX, ttl: PAUSE_MS.most * 2 });
  let companiesAfter: string | null = null;

  const pause = (companyId: string): number => {
    const { until = 0, lengthMs = 0 } = pauses.get(companyId) ?? {};
    // Of several events that were refused together, the first sets the pause.
    if (until > Date.now()) return until - Date.now();
    const next = Math.min(Math.max(lengthMs * 2, PAUSE_MS.first), PAUSE_MS.most);
    pauses.set(companyId, { until: Date.now() + next, lengthMs: next });
    return next;
  };

  const handle = async (claimed: ClaimedEvent): Promise<Outcome> => {
    const { companyId, eventId, attempts } = claimed;
    try {
      const event = await options.read(claimed.event);
      // The event would be as unreadable the next time.
      if (event === null) logger.error({ companyId, eventId }, "the event of a row is unreadable");
      else await startTriggeredRuns(options, event);
      pauses.delete(companyId);
      return "done";
    } catch (error) {
      if (error instanceof AppError && error.reason === "RATE_LIMITED") {
        return { delayMs: pause(companyId), failed: false };
      }
      logger.warn(
        { err: error, companyId, eventId, attempts },
        "an event could not start its runs",
      );
      const delayMs = Math.min(RETRY_MS.first * 2 ** Math.min(attempts, 16), RETRY_MS.most);
      return { delayMs, failed: true };
    }
  };

  const look = async (): Promise<"again" | void> => {
    const paused = [...pauses.entries()].filter(([, { until }]) => until > Date.now());
    const { events, lastCompanyId } = await claimArrived(database, {
      leaseMs: LEASE_MS,
      except: paused.map(([companyId]) => companyId),
      companiesAfter,
    });
    companiesAfter = lastCompanyId;
    if (events.length > 0) await settle(await handleAll(events, handle));
    return events.length > 0 || lastCompanyId !== null ? "again" : undefined;
  };

  const settle = async (outcomes: readonly (readonly [ClaimedEvent, Outcome])[]): Promise<void> => {
    const done = outcomes.flatMap(([event, outcome]) => (outcome === "done" ? [event] : []));
    const deferred = outcomes.flatMap(([event, outcome]) =>
      outcome === "done" ? [] : [{ ...event, ...outcome }],
    );
    if (done.length > 0) await deleteArrived(database, done);
    if (deferred.length > 0) await deferArrived(database, deferred);
  };

  const looking = loop({
    name: "start-runs-of-events",
    signal: stopping.signal,
    intervalMs: POLL_MS,
    logger,
    run: look,
  });
  const arrivals = new Arrivals(database, () => looking.wake());
  return {
    put: (event) => arrivals.put(event),
    async stop() {
      stopping.abort();
      await looking.done;
    },
  };
}

/** Handles some events at a time: one of each company, then the second of each, and so on. */
async function handleAll(
  events: readonly ClaimedEvent[],
  handle: (event: ClaimedEvent) => Promise<Outcome>,
): Promise<(readonly [ClaimedEvent, Outcome])[]> {
  const outcomes: (readonly [ClaimedEvent, Outcome])[] = [];
  const queue = inTurns(events).values();
  const work = async (): Promise<void> => {
    for (const event of queue) outcomes.push([event, await handle(event)]);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return outcomes;
}

function inTurns(events: readonly ClaimedEvent[]): ClaimedEvent[] {
  const queues = [...Map.groupBy(events, ({ companyId }) => companyId).values()];
  const longest = Math.max(...queues.map((queue) => queue.length));
  return Array.from({ length: longest }, (_, turn) =>
    queues.flatMap((queue) => queue.slice(turn, turn + 1)),
  ).flat();
}
