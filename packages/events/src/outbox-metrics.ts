import { loop } from "@workflow/async";
import { gaugeIn } from "@workflow/service";
import type { Gauge, Registry } from "prom-client";
import type { OutboxRelayOptions } from "./relay-options.ts";
import { measureOutbox } from "./relay-queries.ts";

/** How often an outbox is measured, however often the metric is read. */
const INTERVAL_MS = 5_000;
/** Most rows that are counted: more are no better. */
const ROWS_MAX = 10_000;

/** Measures how far the publishing of an outbox lags behind, until the signal. Never rejects. */
export async function watchOutbox(
  options: OutboxRelayOptions & { signal: AbortSignal },
): Promise<void> {
  const { metricsRegistry, database, schema, stream, logger, signal } = options;
  if (metricsRegistry === undefined) return;
  const { rows, age } = outboxGauges(metricsRegistry);
  const run = async (): Promise<void> => {
    try {
      const measured = await measureOutbox(database, { schema, stream }, ROWS_MAX);
      rows.set({ schema, stream }, measured.rows);
      age.set({ schema, stream }, measured.oldestAgeSeconds);
    } catch (err) {
      // An unknown value is better absent than old.
      rows.remove({ schema, stream });
      age.remove({ schema, stream });
      throw err;
    }
  };
  const name = `measure-outbox ${schema} ${stream}`;
  await loop({ name, signal, intervalMs: INTERVAL_MS, logger, run }).done;
}

type OutboxGauge = Gauge<"schema" | "stream">;

function outboxGauges(registry: Registry): { rows: OutboxGauge; age: OutboxGauge } {
  const labelNames = ["schema", "stream"] as const;
  return {
    rows: gaugeIn(registry, {
      name: "outbox_unpublished_events",
      help: `Events that wait to be published, counted up to ${ROWS_MAX}; the same in each process of a service.`,
      labelNames,
    }),
    age: gaugeIn(registry, {
      name: "outbox_oldest_unpublished_age_seconds",
      help: "Age of the oldest event that waits to be published; the same in each process of a service.",
      labelNames,
    }),
  };
}
