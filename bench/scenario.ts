import type { Scope } from "@workflow/async";
import type { Load } from "./load-client.ts";
import type { RunsLog } from "./runs-log.ts";
import type { Sizes } from "./options.ts";
import type { System } from "./system.ts";

/** What a scenario measures with. */
export interface Surroundings {
  system: System;
  load: Load;
  runs: RunsLog;
  sizes: Sizes;
  /** For processes of the scenario's own; it closes when the scenario is over. */
  scope: Scope;
}

/** One number that the scenario is about. */
export interface Figure {
  name: string;
  value: number;
  unit: "/s" | "ms" | "µs" | "MB" | "× floor";
  /** What was aimed at; a figure without a target is shown for context. */
  target?: { atLeast: number } | { atMost: number };
}

/** What a scenario found out. */
export interface Outcome {
  figures: Figure[];
  /** Every round by itself, so that the spread can be seen. */
  rounds: Record<string, number>[];
}

export interface Scenario {
  /** The letter that `--only` takes. */
  id: string;
  title: string;
  /** How the figures come about, in a sentence or two. */
  method: string;
  measure(surroundings: Surroundings): Promise<Outcome>;
}

/** Whether a figure reaches its target; undefined when it has none. */
export function reachesTarget({ value, target }: Figure): boolean | undefined {
  if (target === undefined) return undefined;
  return "atLeast" in target ? value >= target.atLeast : value <= target.atMost;
}
