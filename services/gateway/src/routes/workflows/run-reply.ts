import { AppError } from "@workflow/errors";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { StartRunResponse } from "@workflow/proto/runs/v1/starts";
import { z } from "zod";
import { toErrorBody } from "../../errors/error-body.ts";
import { RawJson, rawOrNull } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";
import type { Reply } from "../../reply.ts";
import { runStatusName } from "../runs/run-json.ts";
import type { RunOptions } from "./run-options.ts";

/**
 * The answer to a start, in the variants of "Run workflow" and D25. Throws EXECUTION_TIMEOUT or
 * TRIGGER_ERROR where the caller asked for errors.
 */
export function toRunReply(
  { run, existing, timedOut }: StartRunResponse,
  options: RunOptions,
  requestId: string,
): Reply<200 | 202> {
  if (run === undefined) throw new Error("StartRun answered without a run.");
  if (existing) {
    const message = "A run with this idempotency key already exists.";
    return { status: 200, data: { ...runFields(run), message } };
  }
  if (options.mode === "async") {
    return { status: 202, data: { ...runFields(run), mode: "async" } };
  }
  // The status decides, not whether the time was over: a run may end in the very last moment.
  if (run.status === RunStatus.COMPLETED) return { status: 200, data: completedData(run) };
  if (UNSUCCESSFUL.has(run.status)) return failedReply(run, options, requestId);
  return unfinishedReply(run, timedOut, options);
}

/** A run that was cancelled or ran out of time while it was waited for has failed, to the caller. */
const UNSUCCESSFUL: ReadonlySet<RunStatus> = new Set([
  RunStatus.FAILED,
  RunStatus.CANCELLED,
  RunStatus.TIMEOUT,
]);

/** What every variant tells, in the spelling of the contract and in camel case (D25). */
function runFields(run: Run, status = runStatusName(run.status)) {
  return {
    run_id: run.id,
    status,
    workflow_id: run.workflowId,
    runId: run.id,
    workflowId: run.workflowId,
    workflowVersion: run.workflowVersion,
  };
}

function completedData(run: Run): Writable {
  return {
    ...runFields(run),
    mode: "sync",
    output: rawOrNull(run.outputJson),
    duration_ms: run.durationMs ?? null,
  };
}

/**
 * For those whose time is over, and for those who still waited when a server stopped: their time is not, so
 * that they are told of their run even where they asked for an error when it is.
 */
function unfinishedReply(
  run: Run,
  isTimeOver: boolean,
  { onTimeout, maxExecutionTimeMs }: RunOptions,
): Reply<202> {
  if (isTimeOver && onTimeout === "throw_error") {
    const message = `The run did not end within ${maxExecutionTimeMs} ms. It goes on.`;
    throw new AppError("EXECUTION_TIMEOUT", message, {
      details: { run_id: run.id, workflow_id: run.workflowId, maxExecutionTimeMs },
    });
  }
  const why = isTimeOver
    ? `The run did not end within ${maxExecutionTimeMs} ms.`
    : "The server stops and can wait for the run no longer.";
  // Towards the caller a run that no worker has begun is as good as running.
  const status = run.status === RunStatus.PENDING ? "running" : undefined;
  const message = `${why} It goes on in the background.`;
  return {
    status: 202,
    data: { ...runFields(run, status), mode: "async", timed_out: true, message },
  };
}

function failedReply(run: Run, { onFailure }: RunOptions, requestId: string): Reply<202> {
  const error = new AppError("TRIGGER_ERROR", failureMessage(run), {
    details: failureDetails(run),
  });
  if (onFailure === "throw_error") throw error;
  const errorJson = new RawJson(JSON.stringify(toErrorBody(error, requestId)));
  return { status: 202, data: { ...runFields(run), mode: "async", error: errorJson } };
}

function failureMessage({ status, error }: Run): string {
  if (error !== undefined && error.message !== "") return error.message;
  if (status === RunStatus.CANCELLED) return "The run was cancelled.";
  if (status === RunStatus.TIMEOUT) return "The run took longer than its workflow allows.";
  return "The run failed.";
}

/** `triggerStatus` and `triggerErrorCode` are there when the platform failed, not a step (D30). */
const platformDetails = z.object({
  triggerStatus: z.string().optional(),
  triggerErrorCode: z.string().optional(),
});

function failureDetails(run: Run) {
  const { id, workflowId, status, error } = run;
  return {
    run_id: id,
    workflow_id: workflowId,
    status: runStatusName(status),
    errorCode: error?.code,
    ...readPlatformDetails(error?.detailsJson),
  };
}

function readPlatformDetails(detailsJson: string | undefined) {
  if (detailsJson === undefined || detailsJson === "") return {};
  const details: unknown = JSON.parse(detailsJson);
  return platformDetails.safeParse(details).data ?? {};
}
