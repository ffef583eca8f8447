import { backoffMs, Bell, sleep } from "@workflow/async";
import { watchOutbox } from "./outbox-metrics.ts";
import { startPurge } from "./purge.ts";
import type { OutboxRelayOptions } from "./relay-options.ts";
import { createRelayPass } from "./relay-pass.ts";

export interface OutboxRelay {
  /** Announces new events: call it after a commit that wrote them. It is cheap and never throws. */
  wake(): void;
  /**
   * Resolves once everything that was committed before the call is published (apart from events set
   * aside).
   *
   * @throws Error when the relay is stopped before
   */
  drained(): Promise<void>;
  /** Ends after the batch under way. Remaining events stay in the outbox. */
  stop(): Promise<void>;
}

/**
 * How long events accumulate after a pass before the next one takes them. An event after a quiet time
 * goes at once. A pass costs five statements whatever it carries: without the pause a busy outbox is
 * published in batches of one or two transactions.
 */
const GATHER_MS = 10;
/** The pause before the next look while another relay works on the same outbox. */
const BUSY_MS = 50;

/**
 * Publishes the unpublished events of an outbox for one stream, in the order of `seq`, and deletes
 * them. Each is published at least once, whatever dies in between. Any number of relays may run for a
 * stream. One at a time works, so the order holds across them.
 */
export function createOutboxRelay(options: OutboxRelayOptions): OutboxRelay {
  const { idleIntervalMs = 1_000, retryFirstMs = 100, retryMaxMs = 10_000, logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const bell = new Bell();
  const pauses = { firstMs: retryFirstMs, maxMs: retryMaxMs };
  const pass = createRelayPass({ ...options, pauses });
  const drainWaiters = createDrainWaiters();

  const run = async (): Promise<void> => {
    let failedPasses = 0;
    while (!signal.aborted) {
      // A pass covers what was committed before it began, so only the waiters until now.
      const asked = drainWaiters.count();
      const result = await pass.run();
      const gathersUntil = performance.now() + GATHER_MS;
      if (result === "unavailable") {
        failedPasses += 1;
        await sleep(backoffMs(failedPasses, pauses), signal);
        continue;
      }
      if (failedPasses > 0 && result !== "busy") {
        logger.info(
          { schema: options.schema, stream: options.stream, failedPasses },
          "the outbox is being published again",
        );
        failedPasses = 0;
      }
      if (result === "busy") await sleep(BUSY_MS, signal);
      if (result === "progress") await sleep(GATHER_MS, signal);
      if (result === "idle") {
        const deferredForMs = pass.nextDueInMs();
        if (deferredForMs === null) drainWaiters.resolveFirst(asked);
        await bell.wait(Math.min(idleIntervalMs, deferredForMs ?? Infinity), signal);
        const gathersMs = gathersUntil - performance.now();
        if (gathersMs > 0) await sleep(gathersMs, signal);
      }
    }
  };

  const watching = watchOutbox({ ...options, signal });
  const ended = Promise.all([run(), startPurge({ ...options, signal }), watching]);
  return {
    wake: () => bell.ring(),
    drained() {
      const drained = signal.aborted ? Promise.reject(stopped()) : drainWaiters.add();
      bell.ring();
      return drained;
    },
    async stop() {
      stopping.abort();
      await ended;
      drainWaiters.rejectAll(stopped());
    },
  };
}

/** Callers that wait until the outbox is empty, in the order of their calls. */
function createDrainWaiters() {
  let waiters: PromiseWithResolvers<void>[] = [];
  return {
    count: () => waiters.length,
    add(): Promise<void> {
      const waiter = Promise.withResolvers<void>();
      waiters.push(waiter);
      return waiter.promise;
    },
    resolveFirst(count: number): void {
      for (const waiter of waiters.splice(0, count)) waiter.resolve();
    },
    rejectAll(error: Error): void {
      for (const waiter of waiters) waiter.reject(error);
      waiters = [];
    },
  };
}

function stopped(): Error {
  return new Error("The relay is stopped.");
}
