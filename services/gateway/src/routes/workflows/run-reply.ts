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
 * The answer to a start, in the variants of "Run workflow" and D25.
 *
 * @throws AppError EXECUTION_TIMEOUT or TRIGGER_ERROR where the caller asked for errors
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
  // The status decides, not the time limit: a run may end at the very last moment.
  if (run.status === RunStatus.COMPLETED) return { status: 200, data: completedData(run) };
  if (UNSUCCESSFUL.has(run.status)) return failedReply(run, options, requestId);
  return unfinishedReply(run, timedOut, options);
}

/** To a waiting caller, a run that was cancelled or timed out has failed. */
const UNSUCCESSFUL: ReadonlySet<RunStatus> = new Set([
  RunStatus.FAILED,
  RunStatus.CANCELLED,
  RunStatus.TIMEOUT,
]);

/** The members of every variant, in the spelling of the contract and in camel case (D25). */
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
 * The answer for callers whose time is over, and for those who still waited when a server stopped.
 * The latter get their run's id even where they asked for an error, because their time is not over.
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
  // A caller sees a run that no worker has begun as running.
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

/** `triggerStatus` and `triggerErrorCode` exist when the platform failed, not a step (D30). */
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
