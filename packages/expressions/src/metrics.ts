import { counterIn, gaugeIn } from "@workflow/service";
import type { Counter, Gauge, Registry } from "prom-client";

/** Counts expressions that were refused as too many of their company waited; pools may share it. */
export function refusedCounter(registry: Registry): Counter {
  return counterIn(registry, {
    name: "expressions_refused_total",
    help: "Expressions refused because too many of their company waited already.",
  });
}

/** What a pool has to do at a moment. */
interface QueueState {
  /** Expressions that wait for a process. */
  waiting: number;
  /** When the one that waits longest began to, by `performance.now()`; null when none waits. */
  oldestSince: number | null;
  /** Processes at work. */
  running: number;
}

/**
 * Shows a pool's queue under its name. It is looked at when it is asked for: that takes no longer than there
 * are companies that wait.
 *
 * @returns ends it
 */
export function showQueue(registry: Registry, pool: string, look: () => QueueState): () => void {
  const shown = lookersOf(registry);
  shown.set(pool, look);
  return () => {
    // Another pool of the same name may have come after this one.
    if (shown.get(pool) === look) shown.delete(pool);
  };
}

type Lookers = Map<string, () => QueueState>;

const lookersByRegistry = new WeakMap<Registry, Lookers>();

/** The pools that share a registry, and with it the gauges. */
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
