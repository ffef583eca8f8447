import { RunFailedError } from "@workflow/client";
import type { Run, WorkflowClient } from "@workflow/client";

const WITHIN_MS = 120_000;

/** Waits for the end of a run and returns it, however it ended. Throws RunNotEndedError after two minutes. */
export async function endOfRun({ runs }: WorkflowClient, runId: string): Promise<Run> {
  try {
    return await runs.wait(runId, { waitMs: WITHIN_MS });
  } catch (error) {
    if (error instanceof RunFailedError) return error.run;
    throw error;
  }
}
