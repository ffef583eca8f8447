import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Shares } from "@workflow/async";
import type { ShareLimits } from "@workflow/async";
import { AppError } from "@workflow/errors";
import { afterAnswer } from "./request-info.ts";

/**
 * Reserves connections of this gateway for each company, so that one company cannot use them all.
 */
export interface CompanyConnections {
  /**
   * Counts a connection for a company until it serves another one or ends. Requests that are sent
   * before earlier ones were answered count as connections of their own.
   *
   * @throws AppError RATE_LIMITED when the company has its share of connections
   */
  claim(response: ServerResponse, companyId: string): void;
}

/** The state of one connection. */
interface Holding {
  companyId: string;
  giveBack: () => void;
  /** Requests that have no answer yet. */
  open: number;
}

const RETRY_AFTER_MS = 1_000;

/** @see CompanyConnections */
export function createCompanyConnections(limits: ShareLimits): CompanyConnections {
  const shares = new Shares(limits);
  const holdings = new WeakMap<Socket, Holding>();

  const take = (companyId: string): (() => void) => {
    const giveBack = shares.take(companyId);
    if (giveBack !== null) return giveBack;
    throw new AppError("RATE_LIMITED", "The company has too many open connections.", {
      details: { limit: "connections" },
      retryAfterMs: RETRY_AFTER_MS,
    });
  };

  const hold = (socket: Socket, companyId: string): Holding => {
    const holding = { companyId, giveBack: take(companyId), open: 0 };
    const earlier = holdings.get(socket);
    if (earlier === undefined) socket.once("close", () => holdings.get(socket)?.giveBack());
    // Until then the connection belongs to the company whose requests have no answer yet.
    if (earlier?.open === 0) earlier.giveBack();
    holdings.set(socket, holding);
    return holding;
  };

  return {
    claim(response, companyId) {
      const { socket } = response.req;
      const known = holdings.get(socket);
      try {
        // The connection ended while its caller was being authenticated.
        if (socket.destroyed) return;
        const holding = known?.companyId === companyId ? known : hold(socket, companyId);
        const giveBackExtra = holding.open > 0 ? take(companyId) : () => {};
        holding.open += 1;
        afterAnswer(response, () => {
          holding.open -= 1;
          giveBackExtra();
          if (holding.open === 0 && holdings.get(socket) !== holding) holding.giveBack();
        });
      } catch (refusal) {
        // The connection would stay open in addition to those that the company has.
        if (known === undefined) response.shouldKeepAlive = false;
        throw refusal;
      }
    },
  };
}
