import { cacheMetrics, counterIn, gaugeIn } from "@workflow/service";
import type { Registry } from "prom-client";
import type { CacheUsage, CompanyBytes, OnCacheEvent, Try } from "./cache-events.ts";

/** What is counted. */
export interface CacheCounters {
  readonly count: OnCacheEvent;
  threadLost(): void;
}

const TRIES: readonly Try[] = ["as_is", "caught_up", "frozen"];

/** Counts what happens; without a registry nothing is counted. No series is about a company. */
export function countEvents(
  registry: Registry | undefined,
  usage: () => CacheUsage,
): CacheCounters {
  if (registry === undefined) return { count: () => {}, threadLost: () => {} };
  const columns = counterIn(registry, {
    name: "tables_cache_columns_total",
    help: "Columns that questions needed, by whether they were in memory (hit) or read (load).",
    labelNames: ["outcome"],
  });
  const evictions = counterIn(registry, {
    name: "tables_cache_evictions_total",
    help: "Columns and tables' rows that were given back for want of memory.",
  });
  const losses = counterIn(registry, {
    name: "tables_cache_losses_total",
    help: "Tables whose columns were dropped: too much had changed, or the database lost history.",
  });
  const tries = counterIn(registry, {
    name: "tables_tries_total",
    help: "Tries to answer a question, by kind and by whether they gave the answer.",
    labelNames: ["try", "outcome"],
  });
  const threads = counterIn(registry, {
    name: "tables_threads_lost_total",
    help: "Threads that ended with the columns they held, for want of memory or by a fault.",
  });
  const tables = cacheMetrics(registry, "table_columns", () => {
    const { tables: entries, bytes } = usage();
    return { entries, bytes };
  });
  const counts = new Map<string, (count: number) => void>([
    ["hit", (count) => columns.inc({ outcome: "hit" }, count)],
    ["load", (count) => columns.inc({ outcome: "load" }, count)],
    ["evicted", (count) => evictions.inc(count)],
    ["lost", (count) => losses.inc(count)],
    ["table hit", (count) => repeat(count, () => tables.hit())],
    ["table miss", (count) => repeat(count, () => tables.miss())],
  ]);
  for (const kind of TRIES) {
    for (const outcome of ["answer", "none"]) {
      counts.set(`${kind} ${outcome}`, (count) => tries.inc({ try: kind, outcome }, count));
    }
  }
  return {
    count: (event, count = 1) => counts.get(event)?.(count),
    threadLost: () => threads.inc(),
  };
}

function repeat(count: number, work: () => void): void {
  for (let done = 0; done < count; done += 1) work();
}

/** Shows what is in memory whenever the registry is read. */
export function showCache(
  registry: Registry | undefined,
  threads: { companyBytes(): Promise<CompanyBytes> },
): void {
  if (registry === undefined) return;
  gaugeIn(registry, {
    name: "tables_cache_bytes",
    help: "Memory that columns take up, about.",
    async collect() {
      this.set(sumOf(await threads.companyBytes()));
    },
  });
  gaugeIn(registry, {
    name: "tables_cache_bytes_of_largest_company",
    help: "Memory that the columns of the company with most of them take up, about.",
    async collect() {
      this.set(Math.max(0, ...(await threads.companyBytes()).values()));
    },
  });
}

function sumOf(bytes: CompanyBytes): number {
  return bytes.values().reduce((sum, each) => sum + each, 0);
}
