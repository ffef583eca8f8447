import type { Registry } from "prom-client";
import { counterIn } from "./metrics.ts";
import { watchGauge } from "./watched-gauge.ts";

/** The metrics of a cache. */
export interface CacheMetrics {
  hit(): void;
  miss(): void;
}

/** The size of a cache. */
export interface CacheSize {
  entries: number;
  /** The estimated bytes; absent when only the entries are limited. */
  bytes?: number;
}

const UNSEEN: CacheMetrics = { hit: () => {}, miss: () => {} };

/**
 * Counts the reads of a cache, and shows its size as long as the process lives.
 *
 * @param cache the name of its contents, such as `deployments`
 */
export function cacheMetrics(
  registry: Registry | undefined,
  cache: string,
  look: () => CacheSize,
): CacheMetrics {
  if (registry === undefined) return UNSEEN;
  const labelNames = ["cache"] as const;
  watchGauge(registry, { name: "cache_entries", help: "Entries of caches.", labelNames }, () => [
    [{ cache }, look().entries],
  ]);
  if (look().bytes !== undefined) {
    const help = "Memory of caches, as they estimate it.";
    watchGauge(registry, { name: "cache_bytes", help, labelNames }, () => [
      [{ cache }, look().bytes ?? 0],
    ]);
  }
  const reads = counterIn(registry, {
    name: "cache_reads_total",
    help: "Reads of caches, by whether the entry was there.",
    labelNames: ["cache", "outcome"],
  });
  const [hits, misses] = [reads.labels(cache, "hit"), reads.labels(cache, "miss")];
  return { hit: () => hits.inc(), miss: () => misses.inc() };
}
