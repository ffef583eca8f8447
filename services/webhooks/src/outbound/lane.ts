import type { WaitingDelivery } from "../store/deliveries.ts";
import type { LeasedLane } from "../store/lane-leases.ts";
import { beginAttemptSpan, endAttemptSpan } from "./attempt-span.ts";
import { attemptDelivery } from "./attempt.ts";
import type { AttemptOutcome } from "./attempt.ts";
import type { LaneContext } from "./lane-context.ts";
import type { OpenEndpoint } from "./open-endpoint.ts";
import { retryDelayMs } from "./retry-delay.ts";

/** The limit of concurrent attempts to a receiver that answers. */
const AT_ONCE_MAX = 16;
/** The number of deliveries that are read ahead, and the number below which more are read. */
const AHEAD_MAX = 64;
const AHEAD_MIN = 16;
/** For a receiver that does not answer: one delivery to send, and one whose due time tells when to continue. */
const WARY_AHEAD_MAX = 2;
/** The limit of results that wait to be written. */
const UNWRITTEN_MAX = 128;
/** The age after which an endpoint is read again before the next attempt, so that changes apply. */
const FRESH_MS = 1_000;
/** The time by which a rate may catch up after a late timer. */
const CATCH_UP_MS = 50;
const TIMER_MS_MAX = 60_000;

/** Sends the waiting deliveries of one endpoint, as long as this process holds the lease. */
export class Lane {
  readonly lease: LeasedLane;
  readonly #context: LaneContext;
  readonly #queue: WaitingDelivery[] = [];
  /** Ids of deliveries that are queued, being sent, or not written yet. */
  readonly #known = new Set<string>();
  #endpoint: OpenEndpoint | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  /** The number of announced changes. */
  #changes = 0;
  #isWary = false;
  #mayHaveFailures = true;
  #underWay = 0;
  #unwritten = 0;
  #mayHaveMore = true;
  #isReading = false;
  #isRefreshing = false;
  #isClosed = false;
  #nextStartAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #idleSince = performance.now();

  constructor(lease: LeasedLane, context: LaneContext) {
    this.lease = lease;
    this.#context = context;
  }

  /** Announces that deliveries may be due. */
  wake(): void {
    this.#mayHaveMore = true;
    this.#go();
  }

  /** Announces that the endpoint may have changed. */
  change(): void {
    this.#changes += 1;
    this.#readAt = Number.NEGATIVE_INFINITY;
    this.wake();
  }

  /** The time since the last work, in milliseconds; 0 while there is work, or soon will be. */
  idleMs(now: number): number {
    const isBusy = this.#known.size > 0 || this.#isReading || this.#isRefreshing;
    if (isBusy || (this.#mayHaveMore && !this.#isClosed)) return 0;
    return this.#isClosed ? Number.POSITIVE_INFINITY : now - this.#idleSince;
  }

  /** Whether no attempt runs and no result waits to be written. */
  get isQuiet(): boolean {
    return this.#underWay === 0 && this.#unwritten === 0;
  }

  /** Begins no further attempt. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const { id } of this.#queue.splice(0)) this.#known.delete(id);
  }

  #go(): void {
    if (this.#isClosed || !this.#context.holdsLeases()) return;
    const wantsMore = this.#mayHaveMore && this.#queue.length < AHEAD_MIN;
    if (wantsMore && !(this.#isWary && this.#queue.length > 0)) void this.#readWaiting();
    const isStale = performance.now() > this.#readAt + FRESH_MS;
    // The endpoint is read together with the deliveries, in one round trip.
    const isNeeded = this.#queue.length > 0 || this.#isReading;
    if (this.#endpoint === null || (isStale && isNeeded)) return void this.#refresh();
    while (this.#mayBegin(this.#endpoint)) {
      const delivery = this.#queue.shift();
      if (delivery !== undefined) void this.#deliver(delivery);
    }
  }

  #mayBegin({ rateLimitPerSecond }: OpenEndpoint): boolean {
    const atOnce = this.#isWary ? 1 : AT_ONCE_MAX;
    if (this.#queue.length === 0 || this.#underWay >= atOnce) return false;
    if (this.#unwritten >= UNWRITTEN_MAX) return false;
    if (rateLimitPerSecond === null) return true;
    const now = performance.now();
    if (now < this.#nextStartAt) {
      this.#planIn(this.#nextStartAt - now);
      return false;
    }
    this.#nextStartAt = Math.max(this.#nextStartAt, now - CATCH_UP_MS) + 1_000 / rateLimitPerSecond;
    return true;
  }

  async #refresh(): Promise<void> {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      await this.#readEndpoint();
    } catch {
      // The database or the key is unavailable. The delay limits the repeated queries.
      this.#planIn(FRESH_MS);
      return;
    } finally {
      this.#isRefreshing = false;
    }
    this.#go();
  }

  /** Reads the endpoint. The lane closes when the endpoint is not active or does not exist. */
  async #readEndpoint(): Promise<OpenEndpoint | null> {
    const at = performance.now();
    const changes = this.#changes;
    const isFirst = this.#endpoint === null;
    const endpoint = await this.#context.endpoints.read(this.lease.endpointId);
    if (endpoint === null || !endpoint.isActive) {
      this.close();
      return null;
    }
    if (isFirst) this.#isWary = endpoint.consecutiveFailures > 0;
    this.#mayHaveFailures ||= endpoint.consecutiveFailures > 0;
    this.#endpoint = endpoint;
    if (changes === this.#changes) this.#readAt = at;
    return endpoint;
  }

  async #readWaiting(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#mayHaveMore = false;
    const limit = this.#isWary ? WARY_AHEAD_MAX : AHEAD_MAX;
    try {
      const { endpointId } = this.lease;
      const except = [...this.#known];
      const found = await this.#context.waiting.ask({ endpointId, except, limit });
      if (!this.#isClosed) this.#take(found, limit);
    } catch {
      this.#mayHaveMore = true;
      this.#planIn(FRESH_MS);
      return;
    } finally {
      this.#isReading = false;
      this.#idleSince = performance.now();
    }
    this.#go();
  }

  #take(found: readonly WaitingDelivery[], limit: number): void {
    for (const delivery of found) {
      if (delivery.dueInMs > 0) {
        this.#planIn(delivery.dueInMs);
        return;
      }
      if (this.#known.has(delivery.id)) continue;
      this.#known.add(delivery.id);
      this.#queue.push(delivery);
    }
    if (found.length === limit) this.#mayHaveMore = true;
  }

  async #deliver(delivery: WaitingDelivery): Promise<void> {
    this.#underWay += 1;
    let sent: { endpoint: OpenEndpoint; outcome: AttemptOutcome } | null = null;
    try {
      sent = await this.#attempt(delivery);
    } catch {
      // The process stopped meanwhile, or the database is unavailable: the delivery is still due.
      this.#mayHaveMore = true;
      this.#planIn(FRESH_MS);
    }
    this.#underWay -= 1;
    if (sent === null) this.#known.delete(delivery.id);
    else void this.#settle(delivery, sent.endpoint, sent.outcome);
    this.#go();
  }

  /** Null when no attempt was made, or the attempt says nothing about the receiver. */
  async #attempt(
    delivery: WaitingDelivery,
  ): Promise<{ endpoint: OpenEndpoint; outcome: AttemptOutcome } | null> {
    const { places, waryPlaces, room, stopping } = this.#context;
    const { companyId } = this.lease;
    const leave = await (this.#isWary ? waryPlaces : places).take(companyId, stopping);
    try {
      const giveBack = await room.take(companyId, stopping, delivery.bodyBytes);
      try {
        return await this.#send(delivery);
      } finally {
        giveBack();
      }
    } finally {
      leave();
    }
  }

  async #send(
    delivery: WaitingDelivery,
  ): Promise<{ endpoint: OpenEndpoint; outcome: AttemptOutcome } | null> {
    const { http, tracer, bodies, breakingOff, holdsLeases, onOutcome } = this.#context;
    // The delivery may have waited long for its turn.
    const isFresh = performance.now() <= this.#readAt + FRESH_MS;
    const endpoint = isFresh ? this.#endpoint : await this.#readEndpoint();
    const body = await bodies.get(delivery);
    if (endpoint === null || this.#isClosed || !holdsLeases()) return null;
    if (body === null) return { endpoint, outcome: notKept() };
    const span = beginAttemptSpan(tracer, this.lease, delivery, body.traceparent);
    const message = { eventId: delivery.eventId, body: body.bytes };
    const target = { ...endpoint, traceparent: span?.traceparent };
    const outcome = await attemptDelivery(http, target, message, breakingOff);
    if (span !== undefined) endAttemptSpan(span, outcome);
    if (breakingOff.aborted) return null;
    this.#isWary = outcome.error !== null;
    onOutcome(outcome);
    return { endpoint, outcome };
  }

  async #settle(
    delivery: WaitingDelivery,
    endpoint: OpenEndpoint,
    outcome: AttemptOutcome,
  ): Promise<void> {
    const isSuccess = outcome.error === null;
    const attempt = delivery.attemptCount + 1;
    const delayMs = retryDelayMs(this.#context.retryDelaysMs, attempt, outcome.retryAfterMs);
    const mayReset = this.#mayHaveFailures;
    this.#mayHaveFailures = !isSuccess || this.#underWay > 0;
    this.#unwritten += 1;
    await this.#context.results.write({
      ...this.lease,
      deliveryId: delivery.id,
      attemptCount: delivery.attemptCount,
      url: endpoint.url,
      isSuccess,
      statusCode: outcome.statusCode,
      error: outcome.error,
      durationMs: outcome.durationMs,
      delayMs,
      outcome,
      mayReset,
    });
    this.#unwritten -= 1;
    this.#known.delete(delivery.id);
    this.#idleSince = performance.now();
    // Ten failures in a row may have disabled the endpoint.
    if (!isSuccess) this.#readAt = Number.NEGATIVE_INFINITY;
    if (!isSuccess && attempt < delivery.maxAttempts) this.#planIn(delayMs + 1);
    this.#go();
  }

  /** Schedules the next step of the lane after so many milliseconds. */
  #planIn(delayMs: number): void {
    const at = performance.now() + Math.min(delayMs, TIMER_MS_MAX);
    if (this.#isClosed || at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(
      () => {
        this.#timerAt = Number.POSITIVE_INFINITY;
        this.wake();
      },
      Math.max(1, at - performance.now()),
    ).unref();
  }
}

/** The outcome for an event that is no longer kept. */
function notKept(): AttemptOutcome {
  return {
    at: new Date(),
    statusCode: null,
    error: "The event is not kept any more.",
    durationMs: 0,
    responseBody: null,
    retryAfterMs: null,
  };
}
