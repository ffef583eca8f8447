import { backoffMs } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { AppError } from "@workflow/errors";
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
}

/** Events that are handled at the same time. The limit leaves connections of the pool to callers. */
const AT_A_TIME = 4;
const LEASE_MS = 30_000;
/**
 * The longest time between two polls. It finds events that another process has stored, or left behind.
 */
const POLL_MS = 1_000;
/** The pause of a company with a full backlog; it doubles. */
const PAUSES = { firstMs: 1_000, maxMs: 30_000 } as const;
/** The pause of an event that failed; it doubles. */
const RETRIES = { firstMs: 250, maxMs: 60_000 } as const;
const COMPANIES_MAX = 10_000;

type Outcome = "done" | { delayMs: number; failed: boolean };

interface Pause {
  until: number;
  refusals: number;
}

/** Works until the scope closes, which waits for the events that were taken out. */
export function startEventInbox(options: EventInboxOptions, scope: Scope): EventInbox {
  const { database, logger } = options;
  const pauses = createPauses();
  let companiesAfter: string | null = null;

  const handle = async (claimed: ClaimedEvent): Promise<Outcome> => {
    const { companyId, eventId, attempts } = claimed;
    try {
      const event = await options.read(claimed.event);
      // The event would be as unreadable the next time.
      if (event === null) logger.error({ companyId, eventId }, "the event of a row is unreadable");
      else await startTriggeredRuns(options, event);
      pauses.end(companyId);
      return "done";
    } catch (error) {
      if (error instanceof AppError && error.reason === "RATE_LIMITED") {
        return { delayMs: pauses.extend(companyId), failed: false };
      }
      logger.warn(
        { err: error, companyId, eventId, attempts },
        "an event could not start its runs",
      );
      return { delayMs: backoffMs(attempts + 1, RETRIES), failed: true };
    }
  };

  const look = async (): Promise<"again" | void> => {
    const { events, lastCompanyId } = await claimArrived(database, {
      leaseMs: LEASE_MS,
      except: pauses.companies(),
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

  const looking = scope.loop({
    name: "start-runs-of-events",
    intervalMs: POLL_MS,
    logger,
    run: look,
  });
  const arrivals = new Arrivals(database, () => looking.wake());
  return { put: (event) => arrivals.put(event) };
}

/** The pauses of companies whose backlog is full. They double with each refusal after a pause. */
function createPauses() {
  const pauses = new LRUCache<string, Pause>({ max: COMPANIES_MAX, ttl: PAUSES.maxMs * 2 });
  return {
    /** The companies that pause now. */
    companies(): string[] {
      const paused = [...pauses.entries()].filter(([, { until }]) => until > Date.now());
      return paused.map(([companyId]) => companyId);
    },
    /** Notes a refusal; returns how long the company pauses from now on, in milliseconds. */
    extend(companyId: string): number {
      const { until = 0, refusals = 0 } = pauses.get(companyId) ?? {};
      // Of several events that were refused together, the first sets the pause.
      if (until > Date.now()) return until - Date.now();
      const pauseMs = backoffMs(refusals + 1, PAUSES);
      pauses.set(companyId, { until: Date.now() + pauseMs, refusals: refusals + 1 });
      return pauseMs;
    },
    end(companyId: string): void {
      pauses.delete(companyId);
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
