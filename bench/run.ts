import { constants } from "node:os";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { SCENARIOS } from "./all-scenarios.ts";
import { compareCommits } from "./compare/compare-commits.ts";
import { renewHistory } from "./history.ts";
import { readCircumstances } from "./machine.ts";
import { measureScenarios } from "./measure-scenarios.ts";
import { FULL, QUICK, readOptions, USAGE } from "./options.ts";
import type { Options } from "./options.ts";
import { formatReport, writeReport } from "./report.ts";
import { startSystem } from "./system.ts";

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = readOptions(
      args,
      SCENARIOS.map(({ id }) => id),
    );
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return 2;
  }
  const interrupted = interruption();
  try {
    await using scope = createScope();
    const { comparison } = options;
    const ended =
      comparison === null
        ? measureAll(scope, options)
        : compareCommits(scope, { ...options, comparison });
    return await Promise.race([ended.then(() => 0), interrupted]);
  } catch (error) {
    console.error(error instanceof Error ? error.stack : error);
    return 1;
  }
}

async function measureAll(scope: Scope, options: Options): Promise<void> {
  const sizes = options.isQuick ? QUICK : FULL;
  const circumstances = await readCircumstances();
  console.log("Starting the system");
  const system = await startSystem(scope, options);
  const measured = await measureScenarios(scope, system, { only: options.only, sizes });
  const report = formatReport(circumstances, system, options, measured);
  const path = await writeReport(report, circumstances, options);
  if (!options.isQuick) await renewHistory(options.out);
  console.log(`\n${report}\nWritten to ${path}`);
}

/** Resolves with the exit code of an interrupted process, whose caller then closes everything. */
function interruption(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => resolve(128 + constants.signals[signal]));
  }
  return promise;
}
