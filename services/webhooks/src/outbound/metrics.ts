import { loop } from "@workflow/async";
import type { Loop } from "@workflow/async";
import type { Database } from "@workflow/db";
import { counterIn, gaugeIn } from "@workflow/service";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { readLaneLag } from "../store/lane-leases.ts";
import type { AttemptOutcome } from "./attempt.ts";

/** The metrics of deliveries. */
export interface DeliveryMetrics {
  onOutcome: (outcome: AttemptOutcome) => void;
  onGivenUp: () => void;
  onMissing: (count: number) => void;
}

const LAG_INTERVAL_MS = 15_000;

/** Registers the metrics; without a registry nothing is counted. */
export function deliveryMetrics(registry: Registry | undefined): DeliveryMetrics {
  if (registry === undefined) {
    return { onOutcome: () => {}, onGivenUp: () => {}, onMissing: () => {} };
  }
  const attempts = counterIn(registry, {
    name: "webhook_delivery_attempts_total",
    help: "Attempts of deliveries, by outcome.",
    labelNames: ["outcome"],
  });
  const givenUp = counterIn(registry, {
    name: "webhook_events_given_up_total",
    help: "Events whose deliveries could not be made.",
  });
  const missing = counterIn(registry, {
    name: "webhook_events_missing_total",
    help: "Events of ended runs that had not come over the bus and were made again.",
  });
  return {
    onOutcome: (outcome) => attempts.inc({ outcome: labelOf(outcome) }),
    onGivenUp: () => givenUp.inc(),
    onMissing: (count) => missing.inc(count),
  };
}

/**
 * Measures at intervals the values that need a query, and the number of held lanes. An unknown lag is
 * absent, for which an alert exists.
 */
export function measureLanes(
  registry: Registry,
  options: { database: Database; logger: Logger; signal: AbortSignal; held: () => number },
): Loop {
  const lag = gaugeIn(registry, {
    name: "webhook_delivery_lag_seconds",
    help: "For how long deliveries have been due that nobody has taken up.",
  });
  const lanes = gaugeIn(registry, {
    name: "webhook_lanes_held",
    help: "Endpoints to which this process delivers now.",
  });
  lag.remove();
  return loop({
    name: "measure-lanes",
    signal: options.signal,
    intervalMs: LAG_INTERVAL_MS,
    logger: options.logger,
    run: async () => {
      lanes.set(options.held());
      const seconds = await readLaneLag(options.database).catch((error: unknown) => {
        lag.remove();
        throw error;
      });
      lag.set(seconds);
    },
  });
}

function labelOf({ statusCode, error }: AttemptOutcome): string {
  if (error === null) return "success";
  return statusCode === null ? "no_answer" : `status_${Math.floor(statusCode / 100)}xx`;
}
