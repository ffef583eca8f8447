import { setTimeout as pause } from "node:timers/promises";
import { loop } from "@workflow/async";
import type { Scope } from "@workflow/async";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Logger } from "pino";
import { renewCalls } from "../../store/agent-calls.ts";

/** The calls of this process, whose leases it renews. */
export interface HeldCalls {
  /** The time for which a call outlives its process, in milliseconds. */
  readonly leaseMs: number;
  /** Whether the process is about to end. Calls that end from now on count as no one's fault. */
  readonly isStopping: () => boolean;
  /**
   * Renews a call's lease until the call is released. When no renewal succeeds in time, `stop` is
   * aborted with a `LostClaimError`, because another process may have ended the call.
   *
   * @param admittedFrom the time of the admitting query, by performance.now(); the lease ends no
   * earlier
   */
  hold(claim: string, stop: AbortController, admittedFrom: number): HeldCall;
  /** Makes `isStopping` true from now on. */
  stopping(): void;
}

/** A call whose lease is renewed. */
export interface HeldCall {
  /** Whether the lease has ended, as far as this process knows. */
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

/** A lease leaves time for several renewals, so a few of them may fail. */
const RENEWALS_PER_LEASE = 6;
/**
 * A connection that drops all packets ends no query by itself. After this share of a lease, the renewal
 * tries another connection.
 */
const TIMEOUTS_PER_LEASE = 3;
/** The time that calls have to record their end when the process ends. */
const FINAL_WRITES_MS = 5_000;
const POLL_MS = 20;

/** Renews leases until the scope closes, and then until the calls have ended or some seconds have passed. */
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
  // A timer of its own ends leases on time, because a renewal may take long.
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
    const patience = performance.now() + FINAL_WRITES_MS;
    while (holdings.size > 0 && performance.now() < patience) await pause(POLL_MS);
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
    const kept = new Set(await inTime(renewing, leaseMs / TIMEOUTS_PER_LEASE));
    for (const [claim, holding] of asked) {
      holding.heldUntil = kept.has(claim) ? askedAt + leaseMs : 0;
    }
  } catch (error) {
    // The error is not thrown, because the loop would then pause longer and longer while leases run
    // out.
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
