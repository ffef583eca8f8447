import type { Database } from "@workflow/db";
import type { Registry } from "prom-client";
import type { EventBus } from "./event-bus.ts";
import type { EventsLogger } from "./logger.ts";
import type { OutboxSchema } from "./outbox.ts";

export interface OutboxRelayOptions {
  /** Needs one free connection; must see the outbox through its role. */
  database: Database;
  schema: OutboxSchema;
  /**
   * The stream whose events are published, and the first word of their subjects. An outbox that
   * feeds several streams has a relay for each: none waits for another.
   */
  stream: string;
  bus: EventBus;
  logger: EventsLogger;
  /** Where the outbox's lag is shown; without one it is not measured. */
  metricsRegistry?: Registry | undefined;
  /** Events a batch at most. Default 500. */
  batchSize?: number;
  /** How often it looks without having been woken. Default 1 000. */
  idleIntervalMs?: number;
  /** How often events are purged that earlier versions have marked as published. Default 1 hour. */
  purgeIntervalMs?: number;
  /** A batch not taken by the bus in this time counts as not published. Default 10 000. */
  publishTimeoutMs?: number;
  /** Delay after a first failure, doubling from then on. Default 100. */
  retryFirstMs?: number;
  /** Longest delay between two attempts. Default 10 000. */
  retryMaxMs?: number;
}
