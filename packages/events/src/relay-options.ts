import type { Database } from "@workflow/db";
import type { Registry } from "prom-client";
import type { EventBus } from "./event-bus.ts";
import type { EventsLogger } from "./logger.ts";
import type { OutboxSchema } from "./outbox.ts";

export interface OutboxRelayOptions {
  /** Needs one free connection. Its role must be able to use the outbox. */
  database: Database;
  schema: OutboxSchema;
  /**
   * The stream whose events are published, and the first word of their subjects. An outbox that feeds
   * several streams has a relay for each, so that none waits for another.
   */
  stream: string;
  bus: EventBus;
  logger: EventsLogger;
  /** The registry for the outbox's lag; without one it is not measured. */
  metricsRegistry?: Registry | undefined;
  /** Most events in a batch. Default 500. */
  batchSize?: number;
  /** How often it polls without being woken, in milliseconds. Default 1 000. */
  idleIntervalMs?: number;
  /**
   * How often events that earlier versions have marked as published are purged, in milliseconds.
   * Default 1 hour.
   */
  purgeIntervalMs?: number;
  /**
   * A batch that the bus has not taken in this time, in milliseconds, counts as not published. Default
   * 10 000.
   */
  publishTimeoutMs?: number;
  /** Delay after a first failure, in milliseconds; it doubles with each further one. Default 100. */
  retryFirstMs?: number;
  /** Longest delay between two attempts, in milliseconds. Default 10 000. */
  retryMaxMs?: number;
}
