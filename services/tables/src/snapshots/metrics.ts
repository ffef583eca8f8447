import { counterIn, gaugeIn } from "@workflow/service";
import type { Registry } from "prom-client";
import type { TableMemory } from "./table-memory.ts";

/** How an answer was come by: from columns as they were, after catching up, or in a transaction. */
export type Try = "as_is" | "caught_up" | "frozen";

/** What happens to columns in memory. */
export interface CacheEvents {
  /** So many columns that a question needed were in memory. */
  used(columns: number): void;
  /** A column is read from the database. */
  loaded(): void;
  /** A column, or what is known of a table's rows, is given back for others. */
  evicted(): void;
  /** A table's columns are of no use any more. */
  lost(): void;
  /** A question was answered. */
  answered(by: Try): void;
  /** A try came to nothing. */
  triedInVain(by: Try): void;
}

/** What a process holds in memory. */
export interface CacheFigures {
  readonly bytes: number;
  /** Of those tables of which something is in memory. */
  memories(): Iterable<TableMemory>;
}

const nobody = (): void => {};
const UNHEARD: CacheEvents = {
  used: nobody,
  loaded: nobody,
  evicted: nobody,
  lost: nobody,
  answered: nobody,
  triedInVain: nobody,
};

/** Counts what happens; without a registry nothing is counted. No series is about a company. */
export function cacheEvents(registry: Registry | undefined): CacheEvents {
  if (registry === undefined) return UNHEARD;
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
  return {
    used: (count) => columns.inc({ outcome: "hit" }, count),
    loaded: () => columns.inc({ outcome: "load" }),
    evicted: () => evictions.inc(),
    lost: () => losses.inc(),
    answered: (by) => tries.inc({ try: by, outcome: "answer" }),
    triedInVain: (by) => tries.inc({ try: by, outcome: "none" }),
  };
}

/** Shows what is in memory whenever the registry is read. */
export function showCache(registry: Registry | undefined, figures: CacheFigures): void {
  if (registry === undefined) return;
  gaugeIn(registry, {
    name: "tables_cache_bytes",
    help: "Memory that columns take up, about.",
    collect() {
      this.set(figures.bytes);
    },
  });
  gaugeIn(registry, {
    name: "tables_cache_bytes_of_largest_company",
    help: "Memory that the columns of the company with most of them take up, about.",
    collect() {
      this.set(Math.max(0, ...bytesByCompany(figures.memories()).values()));
    },
  });
}

function bytesByCompany(memories: Iterable<TableMemory>): Map<string, number> {
  const bytes = new Map<string, number>();
  for (const memory of memories) {
    bytes.set(memory.companyId, (bytes.get(memory.companyId) ?? 0) + memory.bytes);
  }
  return bytes;
}
