import { backoffMs, loop } from "@workflow/async";
import type { Loop } from "@workflow/async";
import { databaseErrorToAppError, derivedId, idTimestamp } from "@workflow/db";
import type { Database } from "@workflow/db";
import { parseEnvelope } from "@workflow/events";
import type { RunPayload } from "@workflow/proto/runs/v1/run_events";
import type { Logger } from "pino";
import { claimEvents } from "../store/claim-events.ts";
import type { ClaimedEvent } from "../store/claim-events.ts";
import { countEndpoints } from "../store/endpoint-counts.ts";
import { insertDeliveries, insertLanes } from "../store/new-deliveries.ts";
import { deferEvents, failEvent, listTargets } from "../store/outbound-events.ts";
import type { EventTarget } from "../store/outbound-events.ts";
import { inParts, ROUND_MAX, withinRound } from "./divide-events.ts";
import type { ReadEvent, ReadyEvent } from "./divide-events.ts";
import type { EventBodies } from "./event-bodies.ts";
import { FullBacklogs } from "./full-backlogs.ts";
import type { Lanes } from "./lanes.ts";
import { isRunEvent, renderOtherEvent, renderRunEvent, runOf } from "./render-body.ts";
import type { RunEventsClient } from "./run-events-client.ts";

/** The dependencies of making deliveries. */
export interface FanOutOptions {
  database: Database;
  runs: RunEventsClient;
  lanes: Lanes;
  bodies: EventBodies;
  logger: Logger;
  /** The limit of a delivery's attempts. */
  maxAttempts: number;
  /** The public address of the gateway; null when it is unknown. */
  publicUrl: string | null;
  /** The limit of a company's waiting deliveries, beyond which no more are made. */
  pendingMax: number;
  onFailed: () => void;
}

const LEASE_MS = 30_000;
/** The longest time between two polls, which find events that another process has left behind. */
const POLL_MS = 1_000;
const FULL_DELAY_MS = 10_000;
const RETRIES = { firstMs: 250, maxMs: 30_000 } as const;
const TRIES_MAX = 20;
/** The limit of events that are handled without a poll: as many as one poll finds. */
const HANDED_MAX = 64;
/** So few events fit into a round in any case, because a company has at most 1,000 endpoints. */
const UNCOUNTED_MAX = 2;

/** Makes the deliveries of events, in turns between companies (D57). */
export class FanOut {
  readonly #options: FanOutOptions;
  readonly #stopping = new AbortController();
  readonly #backlogs: FullBacklogs;
  readonly #loop: Loop;
  #companiesAfter: string | null = null;
  /** Events that were stored under this process's lease. */
  readonly #handed: ClaimedEvent[] = [];
  /** Whether the last poll has found nothing left, as far as this process knows. */
  #isIdle = false;
  /** The time of the next poll, for events that nobody announces. */
  #pollAt = 0;

  constructor(options: FanOutOptions) {
    this.#options = options;
    this.#backlogs = new FullBacklogs(options.database, options.pendingMax);
    this.#loop = loop({
      name: "make-deliveries",
      signal: this.#stopping.signal,
      intervalMs: POLL_MS,
      logger: options.logger,
      run: () => this.#round(),
    });
  }

  /** Announces new events. */
  wake(): void {
    this.#isIdle = false;
    this.#pollAt = 0;
    this.#loop.wake();
  }

  /**
   * The time for which new events may be stored under this process's lease, in milliseconds, before
   * they are passed to `take`. It is 0 while other events wait, because those have their turns first.
   */
  leaseFor(count: number): number {
    return this.#isIdle && this.#handed.length === 0 && count <= HANDED_MAX ? LEASE_MS : 0;
  }

  /** Makes the deliveries of events that were stored under a lease of `leaseFor`. */
  take(events: readonly Pick<ClaimedEvent, "id" | "companyId" | "envelope">[]): void {
    this.#handed.push(...events.map((event) => ({ ...event, attempts: 0 })));
    this.#loop.wake();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop.done;
    const left = this.#handed.splice(0);
    if (left.length === 0) return;
    await this.#defer(left, { delayMs: 0, error: null }).catch((error: unknown) => {
      this.#options.logger.warn({ err: error }, "events wait for the end of their lease");
    });
  }

  async #round(): Promise<"again" | void> {
    this.#isIdle = false;
    const handed = this.#handed.splice(0);
    if (handed.length > 0) await this.#make(handed);
    if (performance.now() >= this.#pollAt && (await this.#makeFound())) return "again";
    this.#isIdle = performance.now() < this.#pollAt;
  }

  /** Polls for events; false when there are none. */
  async #makeFound(): Promise<boolean> {
    const { database } = this.#options;
    // Announcements from now on lead to another poll.
    this.#pollAt = performance.now() + POLL_MS * 0.9;
    const { events, lastCompanyId } = await claimEvents(database, {
      leaseMs: LEASE_MS,
      targetsMax: ROUND_MAX,
      except: this.#backlogs.known(),
      companiesAfter: this.#companiesAfter,
    });
    this.#companiesAfter = lastCompanyId;
    if (events.length > 0) await this.#make(events);
    const mayBeMore = events.length > 0 || lastCompanyId !== null;
    if (mayBeMore) this.#pollAt = 0;
    return mayBeMore;
  }

  async #make(claimed: readonly ClaimedEvent[]): Promise<void> {
    try {
      const events = await this.#readAll(await this.#withoutFull(claimed));
      const { now, later } = withinRound(events, await this.#countEndpoints(events));
      if (later.length > 0) {
        await this.#defer(later, { delayMs: 0, error: null });
        this.#pollAt = 0;
      }
      const [targets, payloads] = await Promise.all([
        listTargets(
          this.#options.database,
          now.map(({ id }) => id),
        ),
        this.#readPayloads(now),
      ]);
      const byEvent = Map.groupBy(targets, ({ eventId }) => eventId);
      const ready = now.flatMap((event) => this.#render(event, payloads, byEvent));
      for (const part of inParts(ready)) await this.#store(part);
    } catch (error) {
      await this.#scheduleRetry(claimed, error);
    }
  }

  /** Removes the events of companies with a full backlog, which have to wait. */
  async #withoutFull(claimed: readonly ClaimedEvent[]): Promise<readonly ClaimedEvent[]> {
    const companyIds = [...new Set(claimed.map(({ companyId }) => companyId))];
    const full = await this.#backlogs.check(companyIds);
    if (full.size === 0) return claimed;
    const held = claimed.filter(({ companyId }) => full.has(companyId));
    await this.#defer(held, { delayMs: FULL_DELAY_MS, error: null });
    return claimed.filter(({ companyId }) => !full.has(companyId));
  }

  async #readAll(claimed: readonly ClaimedEvent[]): Promise<readonly ReadEvent[]> {
    const events: ReadEvent[] = [];
    for (const event of claimed) {
      const read = parseEnvelope(event.envelope);
      if (read !== null) events.push({ ...event, read });
      else await this.#giveUp(event, "The event cannot be read.");
    }
    return events;
  }

  /**
   * The number of endpoints of each company. So few events that they fit into a round anyway are not
   * counted.
   */
  async #countEndpoints(events: readonly ReadEvent[]): Promise<ReadonlyMap<string, number>> {
    if (events.length <= UNCOUNTED_MAX) return new Map();
    const companyIds = [...new Set(events.map(({ companyId }) => companyId))];
    return countEndpoints(this.#options.database, companyIds);
  }

  async #readPayloads(events: readonly ReadEvent[]): Promise<ReadonlyMap<string, RunPayload>> {
    const runs = new Map(
      events.flatMap(({ companyId, read }) => {
        if (!isRunEvent(read.type)) return [];
        const { runId } = runOf(read);
        return [[runId, { companyId, runId }]];
      }),
    );
    const refs = [...runs.values()];
    if (refs.length === 0) return new Map();
    const payloads = await this.#options.runs.readPayloads(refs, this.#stopping.signal);
    return new Map(
      payloads.flatMap((payload, position) => {
        const runId = refs[position]?.runId;
        return runId === undefined ? [] : [[runId, payload]];
      }),
    );
  }

  #render(
    { id, companyId, read }: ReadEvent,
    payloads: ReadonlyMap<string, RunPayload>,
    byEvent: ReadonlyMap<string, readonly EventTarget[]>,
  ): ReadyEvent[] {
    const { publicUrl } = this.#options;
    const body = isRunEvent(read.type)
      ? renderRunEvent(read, payloads.get(runOf(read).runId) ?? null, publicUrl)
      : renderOtherEvent(read);
    const targets = byEvent.get(id) ?? [];
    const bodyBytes = Buffer.byteLength(body);
    const moment = idTimestamp(id);
    const deliveries = targets.map(({ endpointId }) => ({
      // The same event and endpoint give the same id, so a repeat makes no second delivery.
      id: derivedId("whd_", moment, `${id} ${endpointId}`),
      eventId: id,
      endpointId,
      bodyBytes,
    }));
    const traceparent = read.traceparent ?? null;
    return [{ companyId, event: { id, body }, traceparent, deliveries, targets }];
  }

  async #store(ready: readonly ReadyEvent[]): Promise<void> {
    const { database, bodies, lanes, maxAttempts } = this.#options;
    const targets = ready.flatMap((each) => each.targets);
    const withoutLane = targets.filter(({ hasLane }) => !hasLane);
    if (withoutLane.length > 0) await insertLanes(database, withoutLane);
    const fed = await insertDeliveries(
      database,
      ready.map(({ event }) => event),
      ready.flatMap(({ deliveries }) => deliveries),
      maxAttempts,
    );
    for (const [companyId, made] of Map.groupBy(targets, (target) => target.companyId)) {
      this.#backlogs.add(companyId, made.length);
    }
    for (const { event, traceparent, deliveries } of ready) {
      if (deliveries.length > 0) bodies.add(event.id, { body: event.body, traceparent });
    }
    await lanes.feed(fed);
  }

  /** Schedules another try. Only failures that are not transient count toward the limit. */
  async #scheduleRetry(events: readonly ClaimedEvent[], error: unknown): Promise<void> {
    const { reason } = databaseErrorToAppError(error);
    const isAway = reason === "UNAVAILABLE" || reason === "EXECUTION_TIMEOUT";
    if (this.#stopping.signal.aborted) return this.#defer(events, { delayMs: 0, error: null });
    this.#options.logger.warn({ err: error, events: events.length }, "deliveries were not made");
    if (!isAway && events.length > 1) {
      // An event whose deliveries cannot be made must not delay the others.
      for (const event of events) await this.#make([event]);
      return;
    }
    for (const event of events) {
      if (!isAway && event.attempts + 1 >= TRIES_MAX) {
        await this.#giveUp(event, `Failed ${TRIES_MAX} times: ${reason}.`);
        continue;
      }
      const delayMs = backoffMs(event.attempts + 1, RETRIES);
      await this.#defer([event], { delayMs, error: isAway ? null : reason });
    }
    // While the runs service is away nothing else can be made either.
    if (isAway) throw error;
  }

  async #giveUp({ id, companyId }: ClaimedEvent, error: string): Promise<void> {
    const { database, logger, onFailed } = this.#options;
    await failEvent(database, id, error);
    logger.error({ eventId: id, companyId }, "an event was given up: its deliveries are not made");
    onFailed();
  }

  async #defer(
    events: readonly ClaimedEvent[],
    { delayMs, error }: { delayMs: number; error: string | null },
  ): Promise<void> {
    const failed = error !== null;
    await deferEvents(
      this.#options.database,
      events.map(({ id }) => ({ id, delayMs, failed, error })),
    );
  }
}
