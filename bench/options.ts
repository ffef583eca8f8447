import { join } from "node:path";
import { parseArgs } from "node:util";

/** The lengths and numbers of all measurements. */
export interface Sizes {
  /** Pairs of one measurement of the system and one of its floor. */
  pairs: number;
  pairRoundMs: number;
  /** Rounds of everything without a floor. */
  rounds: number;
  /** Time before the first round of each target, in which its code is compiled. */
  warmUpMs: number;
  roundMs: number;
  /** Runs that are started and completed in one round of scenario c. */
  runsPerRound: number;
  /** Time of each constant arrival rate. */
  runLatencyMs: number;
  syncLatencyMs: number;
  /** Time of each measurement of runs of many steps. */
  stepsMs: number;
  /** Runs that are suspended at the same time, and due at the same time. */
  suspendedRuns: number;
  /** Runs of one company that are due at the same time while another company starts runs. */
  greedyRuns: number;
  /** Runs that are stored when lists of runs are read. */
  storedRuns: number;
  /** Workflows that are stored when lists are read, with the same number of other companies. */
  storedWorkflows: number;
  /** Rows of the data table that is read and written. */
  tableRows: number;
  /** Rows of each of 200 tables, of which memory has room for a tenth. */
  cachedTableRows: number;
  /** Deliveries that are held at the same time, and sent once their receiver answers. */
  pendingDeliveries: number;
  /** API keys that take turns. */
  callers: number;
  /** Endpoints of one company that never answer while another company gets deliveries. */
  deadEndpoints: number;
}

export interface Options {
  /** The letters of the chosen scenarios; null for all. */
  only: ReadonlySet<string> | null;
  isQuick: boolean;
  /** The folder of the report. */
  out: string;
  /** The folder for a CPU profile of the system; undefined for no profile. */
  cpuProfileDir: string | undefined;
  /** The comparison with another commit; null to measure this tree alone. */
  comparison: Comparison | null;
}

export interface Comparison {
  /** The name of the commit that HEAD is compared with. */
  ref: string;
  /** The number of starts and measurements of each commit. */
  pairs: number;
  /** Whether the figures become part of the history. */
  isRecorded: boolean;
}

export const FULL: Sizes = {
  // Many short pairs: the machine's speed changes within seconds, and the median leaves that out.
  pairs: 11,
  pairRoundMs: 2_500,
  rounds: 5,
  warmUpMs: 3_000,
  roundMs: 5_000,
  runsPerRound: 10_000,
  runLatencyMs: 20_000,
  syncLatencyMs: 15_000,
  stepsMs: 5_000,
  suspendedRuns: 10_000,
  greedyRuns: 100_000,
  storedRuns: 1_000_000,
  storedWorkflows: 100_000,
  tableRows: 100_000,
  cachedTableRows: 20_000,
  pendingDeliveries: 100_000,
  callers: 10_000,
  deadEndpoints: 1_000,
};

/** The sizes of one turn of a comparison: several short turns tell more than one long turn. */
export const COMPARED: Sizes = {
  ...FULL,
  pairs: 3,
  pairRoundMs: 2_000,
  rounds: 2,
  warmUpMs: 2_000,
  roundMs: 3_000,
  runsPerRound: 3_000,
  runLatencyMs: 6_000,
  syncLatencyMs: 5_000,
  stepsMs: 3_000,
  suspendedRuns: 3_000,
  greedyRuns: 20_000,
  storedRuns: 100_000,
  storedWorkflows: 20_000,
  tableRows: 20_000,
  cachedTableRows: 2_000,
  pendingDeliveries: 10_000,
  callers: 2_000,
  deadEndpoints: 200,
};

/**
 * Sizes that only tell whether the benchmark works: under a minute in all, with the start of the system.
 */
export const QUICK: Sizes = {
  pairs: 1,
  pairRoundMs: 1_000,
  rounds: 1,
  warmUpMs: 1_000,
  roundMs: 1_000,
  runsPerRound: 500,
  runLatencyMs: 2_000,
  syncLatencyMs: 2_000,
  stepsMs: 1_000,
  suspendedRuns: 200,
  greedyRuns: 2_000,
  storedRuns: 20_000,
  storedWorkflows: 5_000,
  tableRows: 5_000,
  cachedTableRows: 500,
  pendingDeliveries: 1_000,
  callers: 500,
  deadEndpoints: 50,
};

/** An even number lets each commit go first in half of the pairs. */
const COMPARED_PAIRS = 4;
const PAIRS_MAX = 50;

export const RESULTS = join(import.meta.dirname, "results");

export const USAGE = `npm run bench -- [--only a,c] [--quick] [--out folder] [--cpu-prof folder]
npm run bench -- --compare ref [--pairs 4] [--only a,c] [--quick] [--record] [--out folder]

  --only      measure these scenarios instead of all (a to z, aa to ac, bb)
  --quick     short rounds: tells whether everything works, not how fast it is
  --out       where the report goes; bench/results by default
  --cpu-prof  where the system under test writes a CPU profile when it ends
  --compare   measure this commit and HEAD in turn, and print ratios
  --pairs     how often each of the two is measured; ${COMPARED_PAIRS} by default
  --record    write a report of each of the two, and their rows of bench/history.md`;

/** Reads the command line. Throws an Error that names the fault. */
export function readOptions(args: readonly string[], known: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      out: { type: "string", default: RESULTS },
      "cpu-prof": { type: "string" },
      compare: { type: "string" },
      pairs: { type: "string" },
      record: { type: "boolean" },
    },
  });
  const only = values.only?.split(",").map((letter) => letter.trim());
  const unknown = only?.filter((letter) => !known.includes(letter)) ?? [];
  if (unknown.length > 0) {
    throw new Error(`--only: no scenario "${unknown.join(", ")}"; there are ${known.join(", ")}.`);
  }
  const comparison = readComparison(values);
  if (comparison !== null && values["cpu-prof"] !== undefined) {
    throw new Error("--cpu-prof: profiles slow down what is compared; leave it out.");
  }
  return {
    only: only === undefined ? null : new Set(only),
    isQuick: values.quick,
    out: values.out,
    cpuProfileDir: values["cpu-prof"],
    comparison,
  };
}

interface ComparisonValues {
  compare?: string | undefined;
  pairs?: string | undefined;
  record?: boolean | undefined;
  quick: boolean;
}

function readComparison({ compare, pairs, record, quick }: ComparisonValues): Comparison | null {
  if (compare === undefined) {
    if (pairs === undefined && record === undefined) return null;
    throw new Error("--pairs and --record belong to --compare.");
  }
  if (record === true && quick) throw new Error("--record: quick figures are no history.");
  const count = Number(pairs ?? COMPARED_PAIRS);
  if (!Number.isInteger(count) || count < 1 || count > PAIRS_MAX) {
    throw new Error(`--pairs: a number from 1 to ${PAIRS_MAX}.`);
  }
  return { ref: compare, pairs: count, isRecorded: record === true };
}
