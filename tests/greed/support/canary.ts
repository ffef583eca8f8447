import { z } from "zod";
import type { Scope } from "@workflow/async";
import { startHelper } from "../../../bench/child-process.ts";

/** What a company saw that did nothing but its small work, in milliseconds. */
const sightings = z.object({
  /** Reads of its workflow and its runs. */
  reads: z.array(z.number()),
  /** Synchronous runs of one step. */
  runs: z.array(z.number()),
  /** What was not answered, or not as it should be. */
  failures: z.array(z.string()),
});

/** See `sightings`. */
export type Sightings = z.output<typeof sightings>;

/** A small company beside the greedy one, in a process of its own. */
export interface Canary {
  /** What it saw since the last time it was asked. */
  look(): Promise<Sightings>;
}

/** Makes a company's workflow and begins to use it; ends with the scope. */
export async function startCanary(
  scope: Scope,
  company: { baseUrl: string; apiKey: string },
): Promise<Canary> {
  const helper = startHelper(scope, "canary-process.ts", import.meta.url);
  await helper.ask(company, z.literal("started"));
  return { look: () => helper.ask("look", sightings) };
}

/** The value below which a share of the values lies; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
