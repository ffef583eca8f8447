import { AppError } from "@workflow/errors";
import { LRUCache } from "lru-cache";
import { clientNetworkOf } from "./client-network.ts";

/** How often one client may ask in any minute. */
export interface AddressLimits {
  /**
   * Counts a request of a client, unless it has had as many as it may in the minute that ends now.
   *
   * @throws AppError RATE_LIMITED saying when to come again
   */
  admit(ipAddress: string | undefined): void;
}

const WINDOW_MS = 60_000;
/** Clients that are remembered; the one seen longest ago is forgotten first. */
const CLIENTS_MAX = 10_000;

/**
 * Limits what everybody may ask without a credential, by address. Counted by this gateway alone: it is
 * about the load that strangers make, and nothing that is asked for can be guessed.
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
