import { counterIn, gaugeIn } from "@workflow/service";
import type { Counter, Gauge, Registry } from "prom-client";

/**
 * Counts expressions that were refused because too many of their company waited. Pools may share the counter.
 */
export function refusedCounter(registry: Registry): Counter {
  return counterIn(registry, {
    name: "expressions_refused_total",
    help: "Expressions refused because too many of their company waited already.",
  });
}

/** The work of a pool at a moment. */
interface QueueState {
  /** The number of expressions that wait for a process. */
  waiting: number;
  /** When the longest wait began, by `performance.now()`; null when nothing waits. */
  oldestSince: number | null;
  /** The number of busy processes. */
  running: number;
}

/**
 * Exports a pool's queue under its name. The queue is read at each scrape, in time proportional to the waiting
 * companies.
 * @returns a function that ends the export
 */
export function showQueue(
  registry: Registry,
  pool: string,
  readQueue: () => QueueState,
): () => void {
  const queues = queuesOf(registry);
  queues.set(pool, readQueue);
  return () => {
    // A newer pool may have the same name.
    if (queues.get(pool) === readQueue) queues.delete(pool);
  };
}

type Queues = Map<string, () => QueueState>;

const queuesByRegistry = new WeakMap<Registry, Queues>();

/** The pools that share a registry and its gauges. */
function queuesOf(registry: Registry): Queues {
  const known = queuesByRegistry.get(registry);
  if (known !== undefined) return known;
  const queues: Queues = new Map();
  queuesByRegistry.set(registry, queues);
  const show = (name: string, help: string, valueOf: (state: QueueState) => number): void => {
    gaugeIn(registry, {
      name,
      help,
      labelNames: ["pool"],
      collect(this: Gauge<"pool">) {
        this.reset();
        for (const [pool, readQueue] of queues) this.set({ pool }, valueOf(readQueue()));
      },
    });
  };
  show("expressions_waiting", "Expressions that wait for a process.", ({ waiting }) => waiting);
  show("expressions_running", "Processes that evaluate expressions.", ({ running }) => running);
  show(
    "expressions_oldest_wait_seconds",
    "For how long the expression that waits longest has done so.",
    ({ oldestSince }) => (oldestSince === null ? 0 : (performance.now() - oldestSince) / 1000),
  );
  return queues;
}
