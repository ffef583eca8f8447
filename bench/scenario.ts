import type { Scope } from "@workflow/async";
import type { Load } from "./load-client.ts";
import type { RunsLog } from "./runs-log.ts";
import type { Sizes } from "./options.ts";
import type { System } from "./system.ts";

/** The tools of a scenario. */
export interface Surroundings {
  system: System;
  load: Load;
  runs: RunsLog;
  sizes: Sizes;
  /** The scope of the scenario's own processes; it closes after the scenario. */
  scope: Scope;
}

/** One number of a scenario. */
export interface Figure {
  name: string;
  value: number;
  unit: "/s" | "ms" | "µs" | "MB" | "× floor";
  /** The target; a figure without one is shown for context. */
  target?: { atLeast: number } | { atMost: number };
}

/** The result of a scenario. */
export interface Outcome {
  figures: Figure[];
  /** Every round by itself, which shows the spread. */
  rounds: Record<string, number>[];
}

export interface Scenario {
  /** The letter that `--only` takes. */
  id: string;
  title: string;
  /** The origin of the figures, in a sentence or two. */
  method: string;
  measure(surroundings: Surroundings): Promise<Outcome>;
}

/** Whether a figure reaches its target; undefined when it has none. */
export function reachesTarget({ value, target }: Figure): boolean | undefined {
  if (target === undefined) return undefined;
  return "atLeast" in target ? value >= target.atLeast : value <= target.atMost;
}
