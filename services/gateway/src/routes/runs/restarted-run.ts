import type { RestartedRun } from "@workflow/proto/runs/v1/runs";
import type { Writable } from "../../http/write-json.ts";
import { runStatusName } from "./run-json.ts";

/** The run that a retry or restart has started, as the contract shows it. */
export function restartedRunJson({
  run,
  originalRunId,
  restartFromStepId,
}: RestartedRun): Writable {
  if (run === undefined) throw new Error("A restart was answered without a run.");
  return {
    originalRunId,
    newRunId: run.id,
    workflowId: run.workflowId,
    restartFromStepId: restartFromStepId === "" ? null : restartFromStepId,
    status: runStatusName(run.status),
    createdAt: run.createdAt ?? null,
  };
}
