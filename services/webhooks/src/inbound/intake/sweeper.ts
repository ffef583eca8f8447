import type { Loop, Scope } from "@workflow/async";
import { newId } from "@workflow/db";
import type { Database } from "@workflow/db";
import { toAppError } from "@workflow/errors";
import { EVENT_ID_PREFIX } from "@workflow/events";
import type { Logger } from "pino";
import {
  CLAIM_COMPANIES_MAX,
  claimDueEvents,
  claimOwnerlessEvents,
  giveToCompanies,
} from "../../store/claim-inbound-events.ts";
import type { OwnerlessEvent } from "../../store/claim-inbound-events.ts";
import { settleEvents } from "../../store/settle-inbound-events.ts";
import type { AccountFinder } from "./account-finder.ts";
import {
  bytesOf,
  postpone,
  START_BYTES_MAX,
  START_EVENTS_MAX,
  scheduleRetry,
} from "./event-starter.ts";
import type { EventStarter, StartableEvent } from "./event-starter.ts";
import { LEASE_SECONDS } from "./lease.ts";

const INTERVAL_MS = 1_000;
const FIRST_COMPANY = "00000000-0000-0000-0000-000000000000";
const AWAY_RETRY_MS = 5_000;

interface SweeperOptions {
  database: Database;
  accounts: AccountFinder;
  starter: EventStarter;
  logger: Logger;
  /** Ends the sweeper. */
  scope: Scope;
}

/**
 * Handles events that were left: by a process that died, because another service was unavailable, or
 * for a replay. Companies take turns, whatever each has waiting.
 */
export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #sweeping: Loop;
  #afterCompany = FIRST_COMPANY;

  constructor(options: SweeperOptions) {
    this.#options = options;
    const { scope, logger } = options;
    this.#sweeping = scope.loop({
      name: "inbound-sweeper",
      intervalMs: INTERVAL_MS,
      logger,
      run: async () => {
        const found = (await this.#findOwners()) + (await this.#startDue());
        return found > 0 ? "again" : undefined;
      },
    });
  }

  /** Called when an event is due. */
  wake(): void {
    this.#sweeping.wake();
  }

  async #startDue(): Promise<number> {
    const { database, starter } = this.#options;
    const events = await claimDueEvents(database, this.#afterCompany, LEASE_SECONDS);
    const companies = [...new Set(events.map(({ companyId }) => companyId))].sort();
    const isFirst = this.#afterCompany === FIRST_COMPANY;
    this.#afterCompany =
      companies.length < CLAIM_COMPANIES_MAX ? FIRST_COMPANY : (companies.at(-1) ?? FIRST_COMPANY);
    for (const batch of toBatches(events)) await starter.start(batch);
    // The companies before `after` have not been visited.
    return events.length > 0 || isFirst ? events.length : 1;
  }

  async #findOwners(): Promise<number> {
    const events = await claimOwnerlessEvents(this.#options.database, LEASE_SECONDS);
    await Promise.all(events.map((event) => this.#findOwner(event)));
    return events.length;
  }

  async #findOwner(event: OwnerlessEvent): Promise<void> {
    const { database, accounts, logger } = this.#options;
    try {
      const companyIds = await accounts.find(event.provider, event.accountIds);
      const [first, ...others] = companyIds;
      if (first === undefined) {
        await settleEvents(database, [{ id: event.id, status: "ignored", keepsPayload: true }]);
        return;
      }
      const copies = others.map((companyId) => ({ id: newId(EVENT_ID_PREFIX), companyId }));
      await database.transaction((transaction) =>
        giveToCompanies(transaction, event.id, first, copies),
      );
    } catch (error) {
      logger.warn({ err: error, eventId: event.id }, "the owners of an event were not found");
      const { reason, message } = toAppError(error);
      const isAway = reason === "UNAVAILABLE";
      await settleEvents(database, [
        isAway ? postpone(event, message, AWAY_RETRY_MS) : scheduleRetry(event, message),
      ]);
    }
  }
}

/** Divides events into batches of one call. */
function toBatches(events: readonly StartableEvent[]): StartableEvent[][] {
  const batches: StartableEvent[][] = [];
  let bytes = 0;
  for (const event of events) {
    bytes += bytesOf(event);
    const batch = batches.at(-1);
    if (batch === undefined || batch.length === START_EVENTS_MAX || bytes > START_BYTES_MAX) {
      batches.push([event]);
      bytes = bytesOf(event);
    } else {
      batch.push(event);
    }
  }
  return batches;
}
