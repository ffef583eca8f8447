import type { Socket } from "node:net";
import { AppError } from "@workflow/errors";
import { Shares } from "@workflow/service";
import { clientNetworkOf } from "./client-network.ts";
import type { ProxyTrust } from "./trusted-proxies.ts";

/**
 * Keeps places for each client network while nobody knows yet on whose behalf its connections are, so that
 * one that opens them and says nothing leaves some to all others.
 */
export interface PeerConnections {
  /**
   * Notes a new connection until it ends. The connections of trusted proxies are many clients' and not
   * counted: how many of them come from one client is theirs to see to.
   *
   * @throws AppError RATE_LIMITED when its network has its share
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
