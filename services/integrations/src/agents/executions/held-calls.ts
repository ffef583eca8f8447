import { setTimeout as pause } from "node:timers/promises";
import { loop } from "@workflow/async";
import type { Scope } from "@workflow/async";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Logger } from "pino";
import { renewCalls } from "../../store/agent-calls.ts";

/** The calls of this process, and the renewal of their leases. */
export interface HeldCalls {
  /** How long a call outlives its process. */
  readonly leaseMs: number;
  /** Whether the process is about to end, so that calls which end now are nobody's fault. */
  readonly isStopping: () => boolean;
  /**
   * Renews a call's lease until it is released. If that can't be done in time `stop` is aborted with a
   * `LostClaimError`: another process may have ended the call.
   *
   * @param admittedFrom when the database was asked, by performance.now(); the lease ends no earlier
   */
  hold(claim: string, stop: AbortController, admittedFrom: number): HeldCall;
  /** Makes `isStopping` true from now on. */
  stopping(): void;
}

/** A call whose lease is renewed. */
export interface HeldCall {
  /** Whether the lease has run out, as far as this process knows. */
  readonly isOver: () => boolean;
  readonly letGo: () => void;
}

/** The error of a call that no longer belongs to this process. */
export class LostClaimError extends AppError {
  constructor() {
    super("UNAVAILABLE", "The question was given up, as its record could not be kept.");
  }
}

interface Holding {
  stop: AbortController;
  /** The end of the lease, by performance.now(). */
  heldUntil: number;
}

/** A lease has time for several renewals, a few of which may fail. */
const RENEWALS_PER_LEASE = 6;
/**
 * No limit of the server ends a call on a connection that drops everything. After this share of a lease another
 * connection is tried.
 */
const PATIENCES_PER_LEASE = 3;
/** How long calls may take to report their end when the process ends. */
const LAST_WORDS_MS = 5_000;
const LOOK_MS = 20;

/** Renews leases until the scope closes, and the calls have ended or some seconds have passed. */
export function startHeldCalls(
  database: Database,
  { leaseMs, logger }: { leaseMs: number; logger: Logger },
  scope: Scope,
): HeldCalls {
  const holdings = new Map<string, Holding>();
  let isStopping = false;

  const renew = async (): Promise<void> => {
    await renewHoldings(database, holdings, { leaseMs, logger });
    endOverdue(holdings);
  };
  // This timer runs apart from renewals, which may take long: a lease ends on time.
  const watch = setInterval(() => endOverdue(holdings), leaseMs / RENEWALS_PER_LEASE);
  const ending = new AbortController();
  const { done } = loop({
    name: "agent-calls",
    signal: ending.signal,
    intervalMs: leaseMs / RENEWALS_PER_LEASE,
    logger,
    run: renew,
  });
  scope.defer(async () => {
    const patience = performance.now() + LAST_WORDS_MS;
    while (holdings.size > 0 && performance.now() < patience) await pause(LOOK_MS);
    ending.abort();
    clearInterval(watch);
    await done;
  });
  return {
    leaseMs,
    isStopping: () => isStopping,
    hold(claim, stop, admittedFrom) {
      const holding = { stop, heldUntil: admittedFrom + leaseMs };
      holdings.set(claim, holding);
      return {
        isOver: () => performance.now() >= holding.heldUntil,
        letGo: () => void holdings.delete(claim),
      };
    },
    stopping() {
      isStopping = true;
    },
  };
}

/** Aborts the calls whose leases have run out. */
function endOverdue(holdings: ReadonlyMap<string, Holding>): void {
  const now = performance.now();
  for (const { stop, heldUntil } of holdings.values()) {
    if (heldUntil <= now) stop.abort(new LostClaimError());
  }
}

/** Renews the leases of all calls. A call that another process has taken over is overdue at once. */
async function renewHoldings(
  database: Database,
  holdings: ReadonlyMap<string, Holding>,
  { leaseMs, logger }: { leaseMs: number; logger: Logger },
): Promise<void> {
  if (holdings.size === 0) return;
  const asked = new Map(holdings);
  const askedAt = performance.now();
  try {
    const renewing = renewCalls(database, [...asked.keys()], leaseMs);
    const kept = new Set(await inTime(renewing, leaseMs / PATIENCES_PER_LEASE));
    for (const [claim, holding] of asked) {
      holding.heldUntil = kept.has(claim) ? askedAt + leaseMs : 0;
    }
  } catch (error) {
    // The error is not thrown: the pauses of the loop would grow, and leases do not.
    logger.warn({ err: error }, "the leases of agents' calls were not renewed");
  }
}

/** Rejects when the work takes too long, and ignores its later result. */
async function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new AppError("UNAVAILABLE", "The database did not answer in time.");
    timer = setTimeout(() => reject(error), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
