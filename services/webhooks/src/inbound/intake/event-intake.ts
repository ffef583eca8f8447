import { newId } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AppError, toAppError } from "@workflow/errors";
import { EVENT_ID_PREFIX } from "@workflow/events";
import type { Logger } from "pino";
import { ALL_COMPANIES } from "../../store/insert-inbound-events.ts";
import type { MessageKey, NewInboundEvent, NewMessage } from "../../store/insert-inbound-events.ts";
import type { Accepted, InboundMessage, Intake } from "../../domain/inbound-message.ts";
import type { AccountFinder } from "./account-finder.ts";
import type { Backlog } from "./backlog.ts";
import type { EventStarter, StartableEvent } from "./event-starter.ts";
import { HourlyBudget } from "./hourly-budget.ts";
import { MessageStore } from "./message-store.ts";
import { OutcomeWatch } from "./outcome-watch.ts";
import { StartQueue } from "./start-queue.ts";

/** The time that a sender waits for the runs of a stored event. */
const RUNS_WAIT_MS = 5_000;
const KEY_CHARS_MAX = 255;
/**
 * The limit of recorded bytes of refused requests, with their rows, per hour and provider: anybody can
 * send them.
 */
const REFUSED_BYTES_PER_PROVIDER = 64 * 1024 * 1024;
const REFUSED_ROW_BYTES = 8 * 1024;

interface EventIntakeOptions {
  database: Database;
  accounts: AccountFinder;
  starter: EventStarter;
  backlog: Backlog;
  logger: Logger;
}

/** Handles messages: finds the receivers, stores the events, and starts the runs. */
export class EventIntake implements Intake {
  readonly #accounts: AccountFinder;
  readonly #backlog: Backlog;
  readonly #logger: Logger;
  readonly #store: MessageStore;
  readonly #starts: StartQueue;
  readonly #watch: OutcomeWatch;
  readonly #refusedBytes = new HourlyBudget(REFUSED_BYTES_PER_PROVIDER);

  constructor({ database, accounts, starter, backlog, logger }: EventIntakeOptions) {
    this.#accounts = accounts;
    this.#backlog = backlog;
    this.#logger = logger;
    this.#store = new MessageStore(database);
    this.#starts = new StartQueue(starter, RUNS_WAIT_MS);
    this.#watch = new OutcomeWatch(database, logger);
  }

  async accept(message: InboundMessage): Promise<Accepted> {
    const companyIds = await this.#findCompanies(message);
    this.#backlog.check(companyIds ?? [null]);
    const status = statusOf(companyIds);
    const events = toEvents(message, companyIds ?? [], { status, error: null });
    const key = keyOf(message, companyIds ?? []);
    const isNew = await this.#store.add({ key, events });
    if (!isNew && key !== null) return this.#watch.find(key, RUNS_WAIT_MS);
    const counts = await Promise.all(
      events
        .flatMap((event) => toStartable(event) ?? [])
        .map((event) => this.#starts.add({ ...event, traceparent: message.traceparent })),
    );
    return {
      eventId: events[0].id,
      workflowsTriggered: counts.reduce((sum, count) => sum + count, 0),
    };
  }

  async refuse(message: InboundMessage, error: string): Promise<void> {
    const bytes = message.payloadBytes + REFUSED_ROW_BYTES;
    if (!this.#refusedBytes.take(message.provider, bytes)) return;
    const companyIds = (await this.#findCompanies(message)) ?? [];
    const events = toEvents(message, companyIds, { status: "failed", error });
    await this.#store.add({ key: null, events });
  }

  /** Stops when all accepted messages are handled. */
  async stop(): Promise<void> {
    await this.#store.drain();
    await this.#starts.drain();
  }

  /** The companies of a message; null when they cannot be found at the moment. */
  async #findCompanies({ provider, receivers }: InboundMessage): Promise<readonly string[] | null> {
    if ("companyIds" in receivers) return receivers.companyIds;
    try {
      return await this.#accounts.find(provider, receivers.accountIds);
    } catch (error) {
      const { reason } = toAppError(error);
      this.#logger.warn(
        { err: error, provider, reason },
        "the owners of an account were not found",
      );
      return null;
    }
  }
}

function statusOf(companyIds: readonly string[] | null): "received" | "ignored" | "processing" {
  if (companyIds === null) return "received";
  return companyIds.length === 0 ? "ignored" : "processing";
}

/** One event for each company, or one without a company. */
function toEvents(
  message: InboundMessage,
  companyIds: readonly string[],
  { status, error }: Pick<NewInboundEvent, "status" | "error">,
): NewMessage["events"] {
  const { receivers } = message;
  const toEvent = (companyId: string | null): NewInboundEvent => ({
    id: newId(EVENT_ID_PREFIX),
    companyId: companyId?.toLowerCase() ?? null,
    provider: message.provider,
    accountIds: "accountIds" in receivers ? receivers.accountIds : [],
    path: message.path ?? null,
    eventType: message.eventType,
    externalEventId: message.externalEventId,
    payloadJson: message.payloadJson,
    payloadBytes: message.payloadBytes,
    triggerJson: JSON.stringify(message.trigger),
    signature: message.signature,
    status,
    error,
    requestId: message.requestId,
  });
  const [first = null, ...others] = companyIds;
  return [toEvent(first), ...others.map(toEvent)];
}

function keyOf(
  { provider, externalEventId, repeatId = null, repeatKey = null }: InboundMessage,
  companyIds: readonly string[],
): MessageKey | null {
  const [companyId = ALL_COMPANIES] = companyIds;
  const known = repeatKey ?? repeatId ?? externalEventId;
  if (known === null) return null;
  if (known.length > KEY_CHARS_MAX) {
    throw new AppError(
      "BAD_REQUEST",
      `The event's id must have at most ${KEY_CHARS_MAX} characters.`,
    );
  }
  return { provider, companyId: repeatKey === null ? ALL_COMPANIES : companyId, key: known };
}

/** Null for an event that starts nothing now. */
function toStartable({
  id,
  companyId,
  provider,
  path,
  payloadJson,
  triggerJson,
  requestId,
  status,
}: NewInboundEvent): StartableEvent | null {
  if (status !== "processing" || companyId === null) return null;
  const createdAt = new Date();
  return {
    id,
    companyId,
    provider,
    path,
    payloadJson,
    triggerJson,
    requestId,
    attempts: 1,
    createdAt,
  };
}
