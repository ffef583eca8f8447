import { watchOutbox } from "./outbox-metrics.ts";
import { startPurge } from "./purge.ts";
import type { OutboxRelayOptions } from "./relay-options.ts";
import { createRelayPass } from "./relay-pass.ts";
import { backoffMs, createBell, sleep } from "./timing.ts";

export interface OutboxRelay {
  /** There is something new: call it after a commit that wrote events. Cheap, never throws. */
  wake(): void;
  /**
   * Resolves once nothing is left of what was committed before the call (apart from events set
   * aside).
   *
   * @throws Error when the relay is stopped before
   */
  drained(): Promise<void>;
  /** Ends after the batch under way. What is left stays in the outbox. */
  stop(): Promise<void>;
}

/**
 * How long events gather after a pass before the next one takes them; an event after a quiet while goes at once.
 * A pass costs five statements whatever it carries: without the pause a busy outbox is published in batches
 * of one or two transactions.
 */
const GATHER_MS = 10;
/** While another relay is at work on the same outbox: how soon to look again. */
const BUSY_MS = 50;

/**
 * Publishes what stands unpublished in an outbox for one stream, in the order of `seq`, and deletes
 * it: at least once, whatever dies in between. Any number of relays may run for a stream; one at a time
 * works, so the order holds across them.
 */
export function createOutboxRelay(options: OutboxRelayOptions): OutboxRelay {
  const { idleIntervalMs = 1_000, retryFirstMs = 100, retryMaxMs = 10_000, logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const bell = createBell();
  const pass = createRelayPass({ ...options, retryFirstMs, retryMaxMs });
  let drainWaiters: PromiseWithResolvers<void>[] = [];

  const run = async (): Promise<void> => {
    let failedPasses = 0;
    while (!signal.aborted) {
      // A pass answers for what was committed before it began, so only those who ask by now.
      const asked = drainWaiters.length;
      const result = await pass.run();
      const gathersUntil = performance.now() + GATHER_MS;
      if (result === "unavailable") {
        failedPasses += 1;
        await sleep(backoffMs(failedPasses, retryFirstMs, retryMaxMs), signal);
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
        if (deferredForMs === null) {
          for (const waiter of drainWaiters.splice(0, asked)) waiter.resolve();
        }
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
      const waiter = Promise.withResolvers<void>();
      if (signal.aborted) waiter.reject(new Error("The relay is stopped."));
      else drainWaiters.push(waiter);
      bell.ring();
      return waiter.promise;
    },
    async stop() {
      stopping.abort();
      await ended;
      for (const waiter of drainWaiters) waiter.reject(new Error("The relay is stopped."));
      drainWaiters = [];
    },
  };
}
