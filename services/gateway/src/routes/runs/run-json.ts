import type { ExecutionError } from "@workflow/proto/common/v1/common";
import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import { StepStatus } from "@workflow/proto/runs/v1/steps";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { ReadRunResponse } from "@workflow/proto/runs/v1/runs";
import type { StepAttempt, StepResult } from "@workflow/proto/runs/v1/steps";
import { RawJson, rawOrNull, writeJson } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";

/**
 * The time that a client may take for a whole run; meanwhile it occupies its company's share of
 * memory.
 */
export const READ_TIMEOUT_MS = 120_000;

/** The statuses of a run by their names in the REST contract. */
export const RUN_STATUSES = {
  pending: RunStatus.PENDING,
  running: RunStatus.RUNNING,
  waiting_approval: RunStatus.WAITING_APPROVAL,
  suspended: RunStatus.SUSPENDED,
  completed: RunStatus.COMPLETED,
  failed: RunStatus.FAILED,
  cancelled: RunStatus.CANCELLED,
  timeout: RunStatus.TIMEOUT,
} as const;

/** The causes of runs by their names in the REST contract. */
export const TRIGGER_TYPES = {
  api: TriggerType.API,
  webhook: TriggerType.WEBHOOK,
  schedule: TriggerType.SCHEDULE,
  manual: TriggerType.MANUAL,
  table: TriggerType.TABLE,
} as const;

/** The results of steps by their names in the REST contract. */
export const STEP_STATUSES = {
  success: StepStatus.SUCCESS,
  error: StepStatus.ERROR,
  skipped: StepStatus.SKIPPED,
} as const;

const RUN_STATUS_NAMES = namesOf<RunStatus>(RUN_STATUSES);
const TRIGGER_TYPE_NAMES = namesOf<TriggerType>(TRIGGER_TYPES);
const STEP_STATUS_NAMES = namesOf<StepStatus>(STEP_STATUSES);

/** The contract's name of a run's status. */
export function runStatusName(status: RunStatus): string {
  return RUN_STATUS_NAMES.get(status) ?? "unknown";
}

/** A run as lists show it: without input, output, step results and task-runtime id. */
export function runListItemJson(run: Run) {
  return {
    id: run.id,
    workflowId: run.workflowId,
    workflowVersion: run.workflowVersion,
    status: runStatusName(run.status),
    triggerType: TRIGGER_TYPE_NAMES.get(run.triggerType) ?? "unknown",
    startedAt: run.startedAt ?? null,
    completedAt: run.completedAt ?? null,
    createdAt: run.createdAt ?? null,
    durationMs: run.durationMs ?? null,
    error: errorJson(run.error),
    restartedFromRunId: run.restartedFromRunId,
  };
}

/** A full run, without its step results. */
export function runJson(run: Run): { [key: string]: Writable } {
  return {
    ...runListItemJson(run),
    triggerRuntimeRunId: run.taskRuntimeRunId ?? null,
    input: rawOrNull(run.inputJson),
    output: rawOrNull(run.outputJson),
  };
}

/**
 * A run as JSON text in pieces: the members of `head`, then the list of step results under a given
 * name.
 */
export async function* runText(
  pieces: AsyncIterable<ReadRunResponse>,
  head: (run: Run) => { [key: string]: Writable },
  listName: string,
): AsyncGenerator<string> {
  let separator: string | null = null;
  for await (const { part } of pieces) {
    if (part?.$case === "run") {
      const text = writeJson(head(part.value));
      separator = "";
      yield `${text.slice(0, -1)},${JSON.stringify(listName)}:[`;
    } else if (part?.$case === "steps" && separator !== null) {
      const text = part.value.results.map((result) => stepResultJson(result).text).join(",");
      if (text === "") continue;
      yield separator + text;
      separator = ",";
    }
  }
  if (separator === null) throw new Error("A run was read without the run itself.");
  yield "]}";
}

/**
 * A step result (D26), as JSON. The text is built directly, because a run has up to 50,000 of them
 * and `writeJson` would take three times as long.
 */
export function stepResultJson(result: StepResult): RawJson {
  const { startedAt, completedAt, error, previousAttempts, reused, truncated } = result;
  const { inputJson, outputJson, inputBytes = 0, outputBytes = 0 } = result;
  return new RawJson(
    `{"stepId":${JSON.stringify(result.stepId)},"path":${JSON.stringify(result.path)}` +
      `,"type":${JSON.stringify(result.type)}` +
      `,"status":"${STEP_STATUS_NAMES.get(result.status) ?? "unknown"}"` +
      `,"startedAt":${timeText(startedAt)},"completedAt":${timeText(completedAt)}` +
      `,"durationMs":${stepDurationMs(result) ?? "null"}` +
      `,"input":${inputJson || "null"},"output":${outputJson || "null"}` +
      `,"error":${error === undefined ? "null" : writeJson(errorJson(error))}` +
      `,"attempt":${result.attempt}` +
      (previousAttempts.length > 0
        ? `,"previousAttempts":${writeJson(previousAttempts.map(attemptJson))}`
        : "") +
      (reused ? ',"reused":true' : "") +
      (truncated
        ? `,"truncated":true,"inputBytes":${inputBytes},"outputBytes":${outputBytes}`
        : "") +
      "}",
  );
}

/** The error of a run or a step; null without one. */
export function errorJson(error: ExecutionError | undefined): Writable {
  if (error === undefined) return null;
  const { code, message, detailsJson } = error;
  return { code, message, details: detailsJson === "" ? undefined : new RawJson(detailsJson) };
}

function attemptJson({ attempt, startedAt, error }: StepAttempt): Writable {
  return { attempt, startedAt: startedAt ?? null, error: errorJson(error) };
}

function timeText(time: Date | undefined): string {
  return time === undefined ? "null" : `"${time.toISOString()}"`;
}

function stepDurationMs({ startedAt, completedAt }: StepResult): number | null {
  if (startedAt === undefined || completedAt === undefined) return null;
  return completedAt.getTime() - startedAt.getTime();
}

function namesOf<Value>(values: Readonly<Record<string, Value>>): Map<Value, string> {
  return new Map(Object.entries(values).map(([name, value]) => [value, name]));
}
