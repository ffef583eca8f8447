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
export function showQueue(registry: Registry, pool: string, look: () => QueueState): () => void {
  const shown = lookersOf(registry);
  shown.set(pool, look);
  return () => {
    // A newer pool may have the same name.
    if (shown.get(pool) === look) shown.delete(pool);
  };
}

type Lookers = Map<string, () => QueueState>;

const lookersByRegistry = new WeakMap<Registry, Lookers>();

/** The pools that share a registry and its gauges. */
function lookersOf(registry: Registry): Lookers {
  const known = lookersByRegistry.get(registry);
  if (known !== undefined) return known;
  const lookers: Lookers = new Map();
  lookersByRegistry.set(registry, lookers);
  const show = (name: string, help: string, valueOf: (state: QueueState) => number): void => {
    gaugeIn(registry, {
      name,
      help,
      labelNames: ["pool"],
      collect(this: Gauge<"pool">) {
        this.reset();
        for (const [pool, look] of lookers) this.set({ pool }, valueOf(look()));
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
  return lookers;
}
