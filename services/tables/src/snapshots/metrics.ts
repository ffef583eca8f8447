import { cacheMetrics, counterIn, gaugeIn } from "@workflow/service";
import type { Registry } from "prom-client";
import type {
  CacheEvent,
  CacheUsage,
  CompanyBytes,
  MemoryLimit,
  MemoryUse,
  OnCacheEvent,
  Try,
} from "../memory/cache-events.ts";

/** The counters of the cache. */
export interface CacheCounters {
  readonly count: OnCacheEvent;
  threadLost(): void;
}

const TRIES: readonly Try[] = ["as_is", "caught_up", "frozen"];
const OUTCOMES = ["answer", "none"] as const;
const LIMITS: readonly MemoryLimit[] = ["table", "company", "all"];

/**
 * Registers the counters; without a registry they count nothing. No series has a company as its label.
 */
export function countEvents(
  registry: Registry | undefined,
  usage: () => CacheUsage,
): CacheCounters {
  if (registry === undefined) return { count: () => {}, threadLost: () => {} };
  const lost = counterIn(registry, {
    name: "tables_threads_lost_total",
    help: "Threads that ended with the columns they held, for want of memory or by a fault.",
  });
  const counts = new Map<CacheEvent, Count>([
    ...columnCounts(registry, usage),
    ...readCounts(registry),
    ...questionCounts(registry),
    ...spillCounts(registry),
  ]);
  return {
    count: (event, count = 1) => counts.get(event)?.(count),
    threadLost: () => lost.inc(),
  };
}

type Count = (count: number) => void;
/** How events are counted, by event. */
type Counts = (readonly [CacheEvent, Count])[];

/** What is in memory, and what had to leave it. */
function columnCounts(registry: Registry, usage: () => CacheUsage): Counts {
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
  const tables = cacheMetrics(registry, "table_columns", () => {
    const { tables: entries, bytes } = usage();
    return { entries, bytes };
  });
  return [
    ["hit", (count) => columns.inc({ outcome: "hit" }, count)],
    ["load", (count) => columns.inc({ outcome: "load" }, count)],
    ["evicted", (count) => evictions.inc(count)],
    ["lost", (count) => losses.inc(count)],
    ["table hit", (count) => repeat(count, () => tables.hit())],
    ["table miss", (count) => repeat(count, () => tables.miss())],
  ];
}

/** What is read from the database for the columns. */
function readCounts(registry: Registry): Counts {
  const scans = counterIn(registry, {
    name: "tables_scans_total",
    help: "Readings of columns by a scan of their table: begun, and of those abandoned.",
    labelNames: ["event"],
  });
  const catchUps = counterIn(registry, {
    name: "tables_catch_ups_total",
    help: "Turns in which a table's columns took in what had changed; questions share them.",
  });
  const withdrawn = counterIn(registry, {
    name: "tables_statements_withdrawn_total",
    help: "Statements that waited for a connection and were not made, as their callers had gone.",
  });
  return [
    ["scan", (count) => scans.inc({ event: "begun" }, count)],
    ["scan abandoned", (count) => scans.inc({ event: "abandoned" }, count)],
    ["catch-up", (count) => catchUps.inc(count)],
    ["withdrawn", (count) => withdrawn.inc(count)],
  ];
}

/** What becomes of questions. */
function questionCounts(registry: Registry): Counts {
  const tries = counterIn(registry, {
    name: "tables_tries_total",
    help: "Tries to answer a question, by kind and by whether they gave the answer.",
    labelNames: ["try", "outcome"],
  });
  const ended = counterIn(registry, {
    name: "tables_questions_ended_total",
    help: "Questions that were not answered: for want of memory, after lost threads, or without a caller.",
    labelNames: ["reason"],
  });
  const counts: Counts = [
    ["left", (count) => ended.inc({ reason: "caller_left" }, count)],
    ["refused", (count) => ended.inc({ reason: "threads_lost" }, count)],
  ];
  for (const limit of LIMITS) {
    counts.push([
      `refused ${limit}`,
      (count) => ended.inc({ reason: `memory_of_${limit}` }, count),
    ]);
  }
  for (const kind of TRIES) {
    for (const outcome of OUTCOMES) {
      counts.push([`${kind} ${outcome}`, (count) => tries.inc({ try: kind, outcome }, count)]);
    }
  }
  return counts;
}

/** What goes to disk, comes back, and is given up there. */
function spillCounts(registry: Registry): Counts {
  const spilled = counterIn(registry, {
    name: "tables_spill_total",
    help: "Columns and tables' rows that went to disk (saved) and came back (restored); given up for others there (evicted), for want of room (skipped), or by a fault of the disk (failed).",
    labelNames: ["outcome"],
  });
  return [
    ["spilled", (count) => spilled.inc({ outcome: "saved" }, count)],
    ["restored", (count) => spilled.inc({ outcome: "restored" }, count)],
    ["spill evicted", (count) => spilled.inc({ outcome: "evicted" }, count)],
    ["spill skipped", (count) => spilled.inc({ outcome: "skipped" }, count)],
    ["spill failed", (count) => spilled.inc({ outcome: "failed" }, count)],
  ];
}

function repeat(count: number, work: () => void): void {
  for (let done = 0; done < count; done += 1) work();
}

/**
 * Shows the memory of each thread whenever the registry is read. Only the largest company's share is shown, since a
 * series for each company would be too many.
 */
export function showCache(
  registry: Registry | undefined,
  threads: { memoryUse(): Promise<readonly MemoryUse[]> },
): void {
  if (registry === undefined) return;
  const show = (name: string, help: string, figure: (use: MemoryUse) => number): void => {
    gaugeIn(registry, {
      name,
      help,
      labelNames: ["thread"],
      async collect() {
        for (const [thread, use] of (await threads.memoryUse()).entries()) {
          this.set({ thread }, figure(use));
        }
      },
    });
  };
  show("tables_cache_bytes", "Memory that columns take up, about, by thread.", ({ companies }) =>
    sumOf(companies),
  );
  show(
    "tables_cache_bytes_in_use",
    "Memory for columns that questions use at the moment, or that is being read for them, by thread.",
    ({ bytesInUse }) => bytesInUse,
  );
  show(
    "tables_cache_bytes_of_largest_company",
    "Memory that the columns of the company with most of them take up, about, by thread.",
    ({ companies }) => Math.max(0, ...companies.values()),
  );
  show(
    "tables_spill_bytes",
    "What columns and places of tables' rows take up on disk, by thread.",
    ({ spilledBytes }) => spilledBytes,
  );
}

function sumOf(bytes: CompanyBytes): number {
  return bytes.values().reduce((sum, each) => sum + each, 0);
}
