import type { Database } from "@workflow/db";
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
  /** Events a batch at most. Default 500. */
  batchSize?: number;
  /** How often it looks without having been woken. Default 1 000. */
  idleIntervalMs?: number;
  /** How long published events are kept. Default 24 hours. */
  retainMs?: number;
  /** How often published events are purged. Default 60 000. */
  purgeIntervalMs?: number;
  /** A batch not taken by the bus in this time counts as not published. Default 10 000. */
  publishTimeoutMs?: number;
  /** Delay after a first failure, doubling from then on. Default 100. */
  retryFirstMs?: number;
  /** Longest delay between two attempts. Default 10 000. */
  retryMaxMs?: number;
}
