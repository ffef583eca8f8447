import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { GetRunRequest, Run } from "@workflow/proto/runs/v1/runs";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { isTerminal } from "../domain/run-status.ts";
import { findRun, listStepResults } from "../store/read-runs.ts";
import type { RunRow } from "../store/read-runs.ts";
import type { TaskRuntime } from "../task-runtime/port.ts";
import { toRunMessage } from "./run-message.ts";

/** Returns one run with its step results. */
export function getRun({ database, runtime }: ServiceContext): UnaryMethod<GetRunRequest, Run> {
  return rpc({
    scopes: "runs:read",
    async handler({ runId }, { identity }) {
      // The run first: what it says of the end must not be older than the step results.
      const run = isId("run_", runId) ? await findRun(database, identity.companyId, runId) : null;
      if (run === null) throw runNotFound();
      const steps = await listStepResults(database, runId);
      return toRunMessage(await withRuntimeStatus(run, runtime), steps);
    },
  });
}

/** The one answer for a run that does not exist, is another company's, or has no id at all (D1). */
export function runNotFound(): AppError {
  return new AppError("NOT_FOUND", "Run not found");
}

/**
 * A worker writes that a run has begun together with its first result, so until then only the task
 * runtime knows that it is being executed.
 */
async function withRuntimeStatus(run: RunRow, runtime: TaskRuntime): Promise<RunRow> {
  if (isTerminal(run.status) || run.status === "running") return run;
  const status = await runtime.findStatus(run.id);
  return status === "executing" ? { ...run, status: "running" } : run;
}
