import { afterAll, beforeAll, it } from "@jest/globals";
import { startDrivenSystem } from "../support/driven-system.ts";
import type { DrivenSystem } from "../support/driven-system.ts";
import * as connections from "./models/connection-model.ts";
import * as runs from "./models/run-model.ts";
import * as tables from "./models/table-model.ts";
import * as workflows from "./models/workflow-model.ts";
import { checkSequences } from "./support/commands.ts";
import { FUZZ_RUNS } from "./support/runs.ts";

let system: DrivenSystem;
beforeAll(async () => {
  system = await startDrivenSystem();
});
afterAll(() => system.stop());

it("a workflow goes through its statuses and versions as the contract's table has them", async () => {
  await checkSequences(system, workflows.WORKFLOW_ACTIONS, {
    setUp: () => workflows.createModel(system),
    numRuns: FUZZ_RUNS,
    maxCommands: 15,
  });
});

it("a table counts, filters and limits its rows as a list in memory would", async () => {
  await checkSequences(system, tables.TABLE_ACTIONS, {
    setUp: () => tables.createModel(system),
    numRuns: FUZZ_RUNS,
    maxCommands: 20,
  });
});

it("a run is cancelled, retried, restarted and approved in the statuses that the contract names", async () => {
  const all = await runs.createWorkflows(system);
  await checkSequences(system, runs.RUN_ACTIONS, {
    setUp: () => ({ workflows: all, runs: [] }),
    // Each waits for runs to come to rest.
    numRuns: Math.ceil(FUZZ_RUNS / 4),
    maxCommands: 12,
  });
});

it("a connection is pending, active and in error when the contract says so", async () => {
  await checkSequences(system, connections.CONNECTION_ACTIONS, {
    setUp: () => connections.createModel(system),
    numRuns: FUZZ_RUNS,
    maxCommands: 30,
  });
});
