import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Circumstances } from "./machine.ts";
import type { Options } from "./options.ts";
import { reachesTarget } from "./scenario.ts";
import type { Figure, Outcome, Scenario } from "./scenario.ts";
import type { System } from "./system.ts";

/** A scenario and its result. */
export interface Measured {
  scenario: Scenario;
  outcome: Outcome;
}

/** The report as Markdown. */
export function formatReport(
  circumstances: Circumstances,
  system: Pick<System, "startedInMs">,
  options: Pick<Options, "isQuick">,
  measured: readonly Measured[],
): string {
  const blocks = [
    `# Benchmark of ${circumstances.startedAt.slice(0, 10)}, commit ${circumstances.commit}`,
    ...(options.isQuick ? ["**Quick run: these figures say that it works, not how fast.**"] : []),
    describe(circumstances, system),
    "## Figures",
    table(
      ["", "scenario", "figure", "measured", "target", ""],
      measured.flatMap(({ scenario, outcome }) =>
        outcome.figures.map((figure) => [
          scenario.id,
          scenario.title,
          figure.name,
          `${formatNumber(figure.value)} ${figure.unit}`,
          formatTarget(figure),
          formatVerdict(figure),
        ]),
      ),
    ),
    ...measured.map(formatScenario),
  ];
  return `${blocks.join("\n\n")}\n`;
}

/** Writes the report, a partial or quick one under a name of its own. Returns the path. */
export async function writeReport(
  text: string,
  { startedAt, commit }: Circumstances,
  { out, only, isQuick }: Pick<Options, "out" | "only" | "isQuick">,
): Promise<string> {
  const part = only === null ? "" : `-${[...only].toSorted().join("")}`;
  const name = `${startedAt.slice(0, 10)}-${commit}${part}${isQuick ? "-quick" : ""}.md`;
  await mkdir(out, { recursive: true });
  const path = join(out, name);
  await writeFile(path, text);
  return path;
}

function describe(circumstances: Circumstances, { startedInMs }: Pick<System, "startedInMs">) {
  const { cpu, cores, memoryGiB, node, loadBefore, settings } = circumstances;
  const lines = [
    `Taken at ${circumstances.startedAt}`,
    `Commit ${circumstances.commit}${circumstances.hasUncommittedChanges ? " with uncommitted changes" : ""}`,
    `${cpu}, ${cores} cores, ${memoryGiB.toFixed(1)} GiB of memory`,
    `Node ${node}`,
    `Load average before the start (1, 5, 15 min): ${loadBefore.map((load) => load.toFixed(2)).join(", ")}`,
    `Settings: ${settings.length === 0 ? "the defaults, with rate limits that are never reached" : settings.join(", ")}`,
    `System, its Postgres, floor and load generator share the machine`,
    `First start on an empty data folder: ${(startedInMs / 1000).toFixed(1)} s`,
  ];
  if (circumstances.isDataInMemory) {
    lines.push("**The data folder is in memory: commits did not wait for a disk**");
  }
  return lines.map((line) => `- ${line}`).join("\n");
}

function formatScenario({ scenario, outcome }: Measured): string {
  const blocks = [`## ${scenario.id}. ${scenario.title}`, scenario.method];
  const columns = Object.keys(outcome.rounds[0] ?? {});
  if (columns.length > 0) {
    const rows = outcome.rounds.map((round, index) => [
      String(index + 1),
      ...columns.map((column) => formatNumber(round[column] ?? Number.NaN)),
    ]);
    blocks.push(table(["round", ...columns], rows));
  }
  return blocks.join("\n\n");
}

function formatTarget({ target }: Figure): string {
  if (target === undefined) return "";
  return "atLeast" in target
    ? `≥ ${formatNumber(target.atLeast)}`
    : `≤ ${formatNumber(target.atMost)}`;
}

function formatVerdict(figure: Figure): string {
  const reaches = reachesTarget(figure);
  if (reaches === undefined) return "";
  return reaches ? "pass" : "**miss**";
}

/** A number with three significant digits, which is more than a repetition confirms. */
export function formatNumber(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}

/** A table in Markdown, its columns aligned. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) =>
    Math.max(3, ...all.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}
