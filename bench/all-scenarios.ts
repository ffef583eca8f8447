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
import { tableCache } from "./scenarios/table-cache.ts";
import { tableImport } from "./scenarios/table-import.ts";
import { tableNeighbours } from "./scenarios/table-neighbours.ts";
import { tableReads } from "./scenarios/table-reads.ts";
import { tableWrites } from "./scenarios/table-writes.ts";
import { tracing } from "./scenarios/tracing.ts";

/** All scenarios, in the order of their measurement. */
export const SCENARIOS: readonly Scenario[] = [
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
  tableCache,
  tracing,
];
