import { constants } from "node:os";
import { createScope } from "@workflow/service";
import type { Scope } from "@workflow/service";
import { startLoad } from "./load-client.ts";
import { readCircumstances } from "./machine.ts";
import { FULL, QUICK, readOptions, USAGE } from "./options.ts";
import type { Options } from "./options.ts";
import { formatReport, writeReport } from "./report.ts";
import type { Measured } from "./report.ts";
import { openRunsLog } from "./runs-log.ts";
import type { Scenario } from "./scenario.ts";
import { acceptRuns } from "./scenarios/accept-runs.ts";
import { actionSteps } from "./scenarios/action-steps.ts";
import { agentSteps } from "./scenarios/agent-steps.ts";
import { authOverhead } from "./scenarios/auth-overhead.ts";
import { busyCallers } from "./scenarios/busy-callers.ts";
import { completeRuns } from "./scenarios/complete-runs.ts";
import { deliveries } from "./scenarios/deliveries.ts";
import { deliveryBacklog } from "./scenarios/delivery-backlog.ts";
import { deliveryNeighbours } from "./scenarios/delivery-neighbours.ts";
import { effectSteps } from "./scenarios/effect-steps.ts";
import { getWorkflow } from "./scenarios/get-workflow.ts";
import { greedyCompany } from "./scenarios/greedy-company.ts";
import { inboundEvents } from "./scenarios/inbound-events.ts";
import { keyedStarts } from "./scenarios/keyed-starts.ts";
import { listRuns } from "./scenarios/list-runs.ts";
import { listWorkflows } from "./scenarios/list-workflows.ts";
import { loopRuns } from "./scenarios/loop-runs.ts";
import { mixedCallers } from "./scenarios/mixed-callers.ts";
import { parallelCalls } from "./scenarios/parallel-calls.ts";
import { pureSteps } from "./scenarios/pure-steps.ts";
import { runLatency } from "./scenarios/run-latency.ts";
import { slowClients } from "./scenarios/slow-clients.ts";
import { suspendedRuns } from "./scenarios/suspended-runs.ts";
import { syncRuns } from "./scenarios/sync-runs.ts";
import { tableImport } from "./scenarios/table-import.ts";
import { tableNeighbours } from "./scenarios/table-neighbours.ts";
import { tableReads } from "./scenarios/table-reads.ts";
import { tableWrites } from "./scenarios/table-writes.ts";
import { tracing } from "./scenarios/tracing.ts";
import { startSystem } from "./system.ts";

const SCENARIOS: readonly Scenario[] = [
  getWorkflow,
  acceptRuns,
  completeRuns,
  runLatency,
  syncRuns,
  pureSteps,
  effectSteps,
  loopRuns,
  parallelCalls,
  suspendedRuns,
  listRuns,
  authOverhead,
  listWorkflows,
  tableReads,
  tableWrites,
  tableImport,
  busyCallers,
  keyedStarts,
  mixedCallers,
  greedyCompany,
  actionSteps,
  agentSteps,
  inboundEvents,
  deliveryBacklog,
  deliveries,
  deliveryNeighbours,
  slowClients,
  tableNeighbours,
  tracing,
];

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
    return await Promise.race([measureAll(scope, options), interrupted]);
  } catch (error) {
    console.error(error instanceof Error ? error.stack : error);
    return 1;
  }
}

async function measureAll(scope: Scope, options: Options): Promise<number> {
  const sizes = options.isQuick ? QUICK : FULL;
  const circumstances = await readCircumstances();
  console.log("Starting the system");
  const system = await startSystem(scope, options);
  const load = startLoad(scope);
  const runs = await openRunsLog(scope, system.databaseUrl);
  const measured: Measured[] = [];
  for (const scenario of SCENARIOS) {
    if (options.only !== null && !options.only.has(scenario.id)) continue;
    console.log(`Measuring ${scenario.id}: ${scenario.title}`);
    await using scenarioScope = createScope();
    const outcome = await scenario.measure({ system, load, runs, sizes, scope: scenarioScope });
    measured.push({ scenario, outcome });
  }
  const report = formatReport(circumstances, system, options, measured);
  const path = await writeReport(report, circumstances, options);
  console.log(`\n${report}\nWritten to ${path}`);
  return 0;
}

/** Resolves with the exit code of an interrupted process; whoever waits then closes everything. */
function interruption(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => resolve(128 + constants.signals[signal]));
  }
  return promise;
}
