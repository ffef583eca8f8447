import { loop } from "@workflow/async";
import type { Loop } from "@workflow/async";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import {
  deleteLeftDeliveries,
  failLeftDeliveries,
  forgetLeftEndpoint,
  listLeftEndpoints,
} from "../store/left-deliveries.ts";

/** The dependencies of clearing. */
export interface LeftDeliveriesOptions {
  database: Database;
  logger: Logger;
  signal: AbortSignal;
}

const INTERVAL_MS = 1_000;
const ENDPOINTS_MAX = 1_000;
/** The number of deliveries that one statement changes, in some ten milliseconds. */
const PAGE = 500;

/** Clears the deliveries of endpoints that were deleted, or disabled by a caller (D47). */
export function clearLeftDeliveries({ database, logger, signal }: LeftDeliveriesOptions): Loop {
  return loop({
    name: "clear-left-deliveries",
    signal,
    intervalMs: INTERVAL_MS,
    logger,
    run: async () => {
      let isMore = false;
      // Each endpoint has one page in turn, so an endpoint with many deliveries does not delay the
      // others.
      for (const { endpointId, exists, isSettled } of await listLeftEndpoints(
        database,
        ENDPOINTS_MAX,
      )) {
        if (signal.aborted) return;
        const clear = exists ? failLeftDeliveries : deleteLeftDeliveries;
        const cleared = await clear(database, endpointId, PAGE);
        if (cleared === PAGE) isMore = true;
        else if (isSettled) await forgetLeftEndpoint(database, endpointId);
      }
      return isMore ? "again" : undefined;
    },
  });
}
