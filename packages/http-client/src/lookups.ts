import type { Turns } from "@workflow/async";
import { HttpClientError } from "./http-client-error.ts";
import type { Resolve } from "./name-servers.ts";

/** Resolves the names of one tenant. */
export type Lookup = (host: string) => Promise<string[]>;

/** The options that all lookups share. */
export interface LookupOptions {
  resolve: Resolve;
  /** The lookups of all tenants that may run at one time. */
  turns: Turns;
  /** The limit of one lookup in milliseconds, the wait for its turn included. */
  timeoutMs: number;
  /** Aborts the running lookups. */
  closed: AbortSignal;
}

/**
 * Looks up names within a tenant's share of running lookups. Requests for a name that is being looked up
 * share the answer. No answer is kept afterwards, so a record's time to live is never exceeded.
 */
export function createLookup(tenant: string, options: LookupOptions): Lookup {
  const underWay = new Map<string, Promise<string[]>>();
  return (host) => {
    const known = underWay.get(host);
    if (known !== undefined) return known;
    const lookup = inTurn(tenant, host, options).finally(() => {
      underWay.delete(host);
    });
    underWay.set(host, lookup);
    return lookup;
  };
}

async function inTurn(
  tenant: string,
  host: string,
  { resolve, turns, timeoutMs, closed }: LookupOptions,
): Promise<string[]> {
  const stop = new AbortController();
  const stopped = Promise.withResolvers<never>();
  // No caller awaits this promise while the lookup waits for its turn.
  stopped.promise.catch(() => undefined);
  const giveUp = (why: string): void => {
    const error = new HttpClientError("DNS_FAILED", why);
    stop.abort(error);
    stopped.reject(error);
  };
  const onClosed = (): void => giveUp("The HTTP client is closed.");
  const timer = setTimeout(() => giveUp(`No answer within ${timeoutMs} ms.`), timeoutMs);
  closed.addEventListener("abort", onClosed, { once: true });
  try {
    const giveBack = await turns.take(tenant, stop.signal);
    try {
      return await Promise.race([resolve(host, stop.signal), stopped.promise]);
    } finally {
      giveBack();
    }
  } finally {
    clearTimeout(timer);
    closed.removeEventListener("abort", onClosed);
  }
}
