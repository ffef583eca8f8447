import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RESULTS } from "./options.ts";
import { table } from "./report.ts";

const HISTORY = join(import.meta.dirname, "history.md");

const HEADER = `# History of the benchmark

One row a commit, made from the reports in \`results/\` by \`npm run bench\`, and by \`npm run bench -- --compare <ref> --record\`.
An empty cell was not measured at that commit. Where a commit has several reports, the newest that has a figure gives it.

Figures with × are relative to the scenario's floor and can be compared between rows. The others depend on what else the
machine did, of which the load average before the start tells a part. [README.md](README.md) explains scenarios and floors.`;

/** A column, with all names of its figure in the reports. */
interface Column {
  head: string;
  scenario: string;
  names: readonly string[];
}

const COLUMNS: readonly Column[] = [
  {
    head: "a: reads",
    scenario: "a",
    names: ["one key: requests, beside the floor", "requests, beside the floor"],
  },
  {
    head: "a: CPU of a read",
    scenario: "a",
    names: ["one key: CPU, beside the floor", "CPU, beside the floor"],
  },
  { head: "b: accepted", scenario: "b", names: ["accepted runs"] },
  { head: "b: accepted, ×", scenario: "b", names: ["accepted runs, beside the floor"] },
  { head: "c: completed", scenario: "c", names: ["completed runs"] },
  { head: "d: run, p50", scenario: "d", names: ["createdAt → completedAt, p50"] },
  { head: "e: sync run, p50", scenario: "e", names: ["p50 at 20/s"] },
  { head: "e: 16 callers", scenario: "e", names: ["completed over 16 connections"] },
  { head: "o: inserts", scenario: "o", names: ["inserts, beside the floor"] },
  { head: "t: beside a backlog, p50", scenario: "t", names: ["createdAt → startedAt, p50"] },
  { head: "u: action step", scenario: "u", names: ["overhead of an action step"] },
];

/** The part of a report that the history takes. */
interface Taken {
  takenAt: string;
  commit: string;
  loadBefore: string;
  /** The measured value of each column. */
  figures: ReadonlyMap<Column, string>;
}

/**
 * Writes the history anew from all reports of a folder: beside the folder of this tree, and into any other folder.
 */
export async function renewHistory(results: string): Promise<void> {
  const path = results === RESULTS ? HISTORY : join(results, "history.md");
  await writeFile(path, await formatHistory(results));
}

/** The history of all full reports in a folder as Markdown, the oldest commit first. */
export async function formatHistory(results: string): Promise<string> {
  const names = await readdir(results);
  const texts = await Promise.all(
    names
      .filter((name) => name.endsWith(".md"))
      .map((name) => readFile(join(results, name), "utf8")),
  );
  const reports = texts
    .flatMap((text) => readReport(text) ?? [])
    .toSorted((one, other) => one.takenAt.localeCompare(other.takenAt));
  const byCommit = Map.groupBy(reports, ({ commit }) => commit);
  const rows = [...byCommit].map(([commit, taken]) => [
    taken[0]?.takenAt.slice(0, 10) ?? "",
    commit,
    taken.map(({ loadBefore }) => loadBefore).join(", "),
    ...COLUMNS.map(
      (column) => taken.findLast(({ figures }) => figures.has(column))?.figures.get(column) ?? "",
    ),
  ]);
  const head = ["date", "commit", "load before", ...COLUMNS.map((column) => column.head)];
  return `${HEADER}\n\n${table(head, rows)}\n`;
}

/** The history leaves out other files, quick reports, and reports of uncommitted changes. */
function readReport(text: string): Taken | undefined {
  const isOurs = text.startsWith("# Benchmark of ");
  if (!isOurs || text.includes("**Quick run:") || text.includes("with uncommitted changes")) {
    return undefined;
  }
  const figures = new Map<Column, string>();
  for (const line of text.split("\n")) {
    const [, scenario, , name = "", measured = ""] = line.split("|").map((cell) => cell.trim());
    const column = COLUMNS.find((one) => one.scenario === scenario && one.names.includes(name));
    if (column !== undefined) figures.set(column, measured.replace("× floor", "×"));
  }
  return {
    takenAt: afterLabel(text, /^- Taken at (\S+)$/m),
    commit: afterLabel(text, /^- Commit (\w+)$/m),
    loadBefore: afterLabel(text, /^- Load average before .*: ([\d.]+),/m),
    figures,
  };
}

function afterLabel(text: string, label: RegExp): string {
  const [, value] = label.exec(text) ?? [];
  if (value === undefined) throw new Error(`A report lacks a line like ${label.source}.`);
  return value;
}
