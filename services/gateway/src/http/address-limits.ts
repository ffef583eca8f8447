import { AppError } from "@workflow/errors";
import { LRUCache } from "lru-cache";
import { clientNetworkOf } from "./client-network.ts";

/** Requests that one client may send in any minute. */
export interface AddressLimits {
  /**
   * Counts a request of a client.
   *
   * @throws AppError RATE_LIMITED with the time to retry after when the client has used its limit
   */
  admit(ipAddress: string | undefined): void;
}

const WINDOW_MS = 60_000;
/** The number of clients that are remembered; the least recently seen one goes first. */
const CLIENTS_MAX = 10_000;

/**
 * Limits requests without a credential by address. Each gateway counts alone: the limit protects it
 * from the load of strangers, and guards no secret.
 */
export function createAddressLimits(max: number, now: () => number = Date.now): AddressLimits {
  const times = new LRUCache<string, number[]>({ max: CLIENTS_MAX });
  return {
    admit(ipAddress) {
      const client = clientNetworkOf(ipAddress);
      const at = now();
      const recent = (times.get(client) ?? []).filter((time) => time > at - WINDOW_MS);
      times.set(client, recent);
      const [oldest = at] = recent;
      if (recent.length >= max) {
        const message = `Rate limit exceeded. Limit: ${max} requests per minute.`;
        throw new AppError("RATE_LIMITED", message, { retryAfterMs: oldest + WINDOW_MS - at });
      }
      recent.push(at);
    },
  };
}
