import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { checkOutCommit } from "@workflow/testkit";
import { renewHistory } from "../history.ts";
import { readCircumstances } from "../machine.ts";
import { measureScenarios } from "../measure-scenarios.ts";
import { COMPARED, QUICK } from "../options.ts";
import type { Comparison, Options } from "../options.ts";
import { formatReport, writeReport } from "../report.ts";
import { startSystem } from "../system.ts";
import { formatComparison } from "./comparison-table.ts";
import { joinTurns } from "./join-turns.ts";
import type { Turn } from "./join-turns.ts";

const REPOSITORY = join(import.meta.dirname, "../..");

/** One of the two compared commits. */
interface Side {
  /** Short hash. */
  commit: string;
  /** The folder of its files. */
  root: string;
}

/**
 * Measures another commit and HEAD in turn on this machine and prints their ratios. Both use the benchmark of this
 * tree, so that they differ only in the system.
 * @throws Error when there is no such commit, or when either cannot be measured
 */
export async function compareCommits(
  scope: Scope,
  options: Options & { comparison: Comparison },
): Promise<void> {
  const { ref, pairs, isRecorded } = options.comparison;
  const [a, b] = [await findCommit(ref), await findCommit("HEAD")];
  const circumstances = await readCircumstances();
  if (circumstances.hasUncommittedChanges) {
    console.log("Changes that are not committed are left out of the comparison.");
  }
  console.log(`Checking out ${a} and ${b}`);
  const sides = { a: await checkOut(scope, a), b: await checkOut(scope, b) };
  const turns: Record<keyof typeof sides, Turn[]> = { a: [], b: [] };
  for (const [index, name] of orderOf(pairs).entries()) {
    console.log(`Turn ${index + 1} of ${pairs * 2}: ${sides[name].commit}`);
    turns[name].push(await measureTurn(sides[name], options));
  }
  console.log(
    `\n${formatComparison({ commit: a, turns: turns.a }, { commit: b, turns: turns.b })}`,
  );
  if (!isRecorded) return;
  for (const { commit, measured } of [
    { commit: a, measured: turns.a },
    { commit: b, measured: turns.b },
  ]) {
    const joined = joinTurns(measured);
    const of = { ...circumstances, commit, hasUncommittedChanges: false };
    const report = formatReport(of, joined, options, joined.measured);
    console.log(`Written to ${await writeReport(report, of, options)}`);
  }
  await renewHistory(options.out);
}

/** The order A B, B A, A B, …: a slow change of the machine then meets both alike. */
function orderOf(pairs: number): ("a" | "b")[] {
  const all = Array.from({ length: pairs }, (_, index) => index);
  return all.flatMap((index): ("a" | "b")[] => (index % 2 === 0 ? ["a", "b"] : ["b", "a"]));
}

/** Measures one turn on a system of its own, which inherits no data, compiled code or memory. */
async function measureTurn({ root }: Side, { only, isQuick }: Options): Promise<Turn> {
  await using scope = createScope();
  const system = await startSystem(scope, { repository: root });
  const sizes = isQuick ? QUICK : COMPARED;
  const measured = await measureScenarios(scope, system, { only, sizes });
  return { startedInMs: system.startedInMs, measured };
}

async function checkOut(scope: Scope, commit: string): Promise<Side> {
  const checkedOut = await checkOutCommit({ commit, packages: "own" });
  scope.defer(() => checkedOut.remove());
  return { commit, root: checkedOut.root };
}

async function findCommit(ref: string): Promise<string> {
  const args = ["rev-parse", "--verify", "--short", "--end-of-options", `${ref}^{commit}`];
  try {
    return (await promisify(execFile)("git", args, { cwd: REPOSITORY })).stdout.trim();
  } catch (cause) {
    throw new Error(`--compare: the repository has no commit "${ref}".`, { cause });
  }
}
