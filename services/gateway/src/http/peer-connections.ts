import type { Socket } from "node:net";
import { Shares } from "@workflow/async";
import { AppError } from "@workflow/errors";
import { clientNetworkOf } from "./client-network.ts";
import type { ProxyTrust } from "./trusted-proxies.ts";

/**
 * Reserves connections for each client network until the caller is known, so that a silent client
 * cannot use them all.
 */
export interface PeerConnections {
  /**
   * Counts a new connection until it ends. Connections of trusted proxies carry many clients and
   * are not counted; the proxies limit their own clients.
   *
   * @throws AppError RATE_LIMITED when the network has its share
   */
  claim(socket: Socket): void;
}

const RETRY_AFTER_MS = 1_000;

/** @see PeerConnections */
export function createPeerConnections(total: number, proxies: ProxyTrust): PeerConnections {
  const shares = new Shares({ total, perTenant: total });
  return {
    claim(socket) {
      if (proxies.isProxy(socket.remoteAddress)) return;
      const giveBack = shares.take(clientNetworkOf(socket.remoteAddress));
      if (giveBack === null) {
        throw new AppError("RATE_LIMITED", "Your network has too many open connections.", {
          details: { limit: "connections" },
          retryAfterMs: RETRY_AFTER_MS,
        });
      }
      socket.once("close", giveBack);
    },
  };
}
