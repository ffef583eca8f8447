import type { Gauge, Registry } from "prom-client";
import { gaugeIn } from "./metrics.ts";

/** Values by label, such as `[{ state: "idle" }, 3]`. */
export type LabelledValues<Label extends string> = Iterable<
  readonly [labels: Partial<Record<Label, string>>, value: number]
>;

const lookers = new WeakMap<Gauge, Set<() => LabelledValues<string>>>();

/**
 * A gauge that computes its values at each scrape, which must be cheap and synchronous. Several sources
 * may share one name: values with the same labels are added.
 *
 * @returns removes the gauge
 */
export function watchGauge<Label extends string>(
  registry: Registry,
  { name, help, labelNames }: { name: string; help: string; labelNames: readonly Label[] },
  look: () => LabelledValues<Label>,
): () => void {
  const gauge: Gauge = gaugeIn<string>(registry, {
    name,
    help,
    labelNames,
    collect(this: Gauge) {
      this.reset();
      for (const each of lookers.get(this) ?? []) {
        for (const [labels, value] of each()) this.inc(labels, value);
      }
    },
  });
  const known = lookers.get(gauge) ?? new Set();
  lookers.set(gauge, known);
  known.add(look);
  return () => void known.delete(look);
}
