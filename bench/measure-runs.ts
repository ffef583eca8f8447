import { createActiveWorkflow, runRequest } from "./rest.ts";
import type { RunsSummary } from "./runs-log.ts";
import type { Surroundings } from "./scenario.ts";

/**
 * How long runs of these steps take when they come at a fixed rate that leaves the machine idle for
 * most of the time: what one run costs, not how many there can be.
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
