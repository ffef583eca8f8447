import { join } from "node:path";
import { parseArgs } from "node:util";

/** How long and how often everything is measured. */
export interface Sizes {
  /** Each of one measurement of the system and one of its floor. */
  pairs: number;
  pairRoundMs: number;
  /** Of everything that has no floor. */
  rounds: number;
  /** Before the first round of each target, so that its code is compiled. */
  warmUpMs: number;
  roundMs: number;
  /** Started and completed in one round of scenario c. */
  runsPerRound: number;
  /** Of the constant arrival rates. */
  runLatencyMs: number;
  syncLatencyMs: number;
  /** Of each measurement of runs of many steps. */
  stepsMs: number;
  /** Suspended at the same time, and due at the same time. */
  suspendedRuns: number;
  /** Of one company, due at the same time while another one starts runs. */
  greedyRuns: number;
  /** Stored when lists of runs are read. */
  storedRuns: number;
  /** Stored when lists of workflows are read, and as many of other companies. */
  storedWorkflows: number;
  /** Of the data table that is read and written. */
  tableRows: number;
  /** Of each of 200 tables, of which a tenth have room in memory. */
  cachedTableRows: number;
  /** Held at the same time, and sent once their receiver is there. */
  pendingDeliveries: number;
  /** API keys that are used in turn. */
  callers: number;
  /** Of one company, while another one gets deliveries. */
  deadEndpoints: number;
}

export interface Options {
  /** Letters of the scenarios to measure; null is all of them. */
  only: ReadonlySet<string> | null;
  isQuick: boolean;
  /** Folder of the report. */
  out: string;
  /** Folder for a CPU profile of the system; none without. */
  cpuProfileDir: string | undefined;
  /** Another commit beside this one; null measures this tree alone. */
  comparison: Comparison | null;
}

export interface Comparison {
  /** Names the commit that HEAD is compared with. */
  ref: string;
  /** How often each of the two is started and measured. */
  pairs: number;
  /** Whether the figures become part of the history. */
  isRecorded: boolean;
}

export const FULL: Sizes = {
  // Many short ones: the machine's mood changes within seconds, and the median leaves it out.
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

/** Of one turn of a comparison: several short ones tell more than one long one. */
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

/** Tells only whether the benchmark works: under a minute in all, start of the system included. */
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

/** An even number: each commit is then as often the first of its pair as the second. */
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

/** Reads the command line. Throws an Error that says what is wrong with it. */
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
