import { createActiveWorkflow, runRequest } from "./rest.ts";
import type { RunsSummary } from "./runs-log.ts";
import type { Surroundings } from "./scenario.ts";

/**
 * Times of runs of these steps at a fixed rate that leaves the machine idle for most of the time: the cost of one
 * run, not the number that is possible.
 */
export async function measureRuns(
  { system, load, runs, sizes }: Surroundings,
  name: string,
  steps: readonly unknown[],
  ratePerSecond: number,
): Promise<RunsSummary> {
  const workflowId = await createActiveWorkflow(system, name, steps);
  const request = runRequest(system, workflowId, "async");
  await load({ model: "open", request, ratePerSecond, durationMs: sizes.stepsMs });
  return runs.summarize(workflowId);
}
