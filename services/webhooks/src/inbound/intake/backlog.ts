import type { Scope } from "@workflow/async";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Logger } from "pino";
import { listFullCompanies } from "../../store/claim-inbound-events.ts";

/** The limit of a company's events that wait for their runs. */
const EVENTS_PER_COMPANY_MAX = 10_000;
/**
 * The interval of counting, which reads all waiting events. A company may exceed the limit by the
 * events that arrive meanwhile.
 */
const COUNT_INTERVAL_MS = 5_000;
const RETRY_AFTER_MS = 30_000;

/** Knows the companies with too many waiting events. */
export class Backlog {
  #full = new Set<string | null>();

  constructor(database: Database, logger: Logger, scope: Scope) {
    scope.loop({
      name: "inbound-backlog",
      intervalMs: COUNT_INTERVAL_MS,
      logger,
      run: async () => {
        this.#full = new Set(await listFullCompanies(database, EVENTS_PER_COMPANY_MAX));
      },
    });
  }

  /**
   * @param companyIds null stands for events whose company is not known yet
   * @throws AppError RATE_LIMITED when too many events of each of them wait
   */
  check(companyIds: readonly (string | null)[]): void {
    if (companyIds.length === 0 || companyIds.some((companyId) => !this.#full.has(companyId)))
      return;
    const message = "Too many events wait for their workflows; try again later.";
    throw new AppError("RATE_LIMITED", message, { retryAfterMs: RETRY_AFTER_MS });
  }
}
