import { isUuid } from "@workflow/db";
import { isStorableText, parseJsonText } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { Run, StartRunRequest, StartRunResponse } from "@workflow/proto/runs/v1/runs";
import { TriggerType } from "@workflow/proto/runs/v1/runs";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { isTerminal } from "../domain/run-status.ts";
import type { TriggerType as DomainTrigger } from "../domain/run-status.ts";
import type { EndedRuns } from "../engine/ended-runs.ts";
import type { RunChange } from "../engine/journal.ts";
import type { StartedRun } from "../engine/run-starter.ts";
import { findRun } from "../store/read-runs.ts";
import type { RunRow } from "../store/read-runs.ts";
import {
  MESSAGE_STATUS,
  MESSAGE_TRIGGER,
  toErrorMessage,
  toRunMessage,
  toRunSummary,
} from "./run-message.ts";

/** D4. */
const INPUT_BYTES_MAX = 1024 * 1024;
const KEY_CHARS_MAX = 255;
const ID_CHARS_MAX = 255;
/** The contract's longest wait of a synchronous run. */
const WAIT_MS_MAX = 300_000;

/** Starts a run and, with `wait_ms`, waits for its end. */
export function startRun(context: ServiceContext): UnaryMethod<StartRunRequest, StartRunResponse> {
  return rpc({
    scopes: "workflows:execute",
    handler: (request, rpcContext) => startOne(context, request, rpcContext),
  });
}

/** Starts one run on behalf of a caller; see the RPC for its errors. */
export async function startOne(
  context: ServiceContext,
  request: StartRunRequest,
  rpcContext: RpcContext,
): Promise<StartRunResponse> {
  const { companyId } = rpcContext.identity;
  const waitMs = parseWait(request.waitMs);
  const started = await context.starter.start({
    companyId,
    ...parseRequest(request),
    requestId: parseText("requestId", request.requestId, ID_CHARS_MAX) ?? rpcContext.requestId,
    awaited: waitMs > 0,
  });
  if (started.existing) {
    const run = await loadRun(context, companyId, started.runId);
    return { run: toRunMessage(run, []), existing: true, timedOut: false };
  }
  if (waitMs === 0) return { run: acceptedRun(started), existing: false, timedOut: false };
  const end = await waitForEnd(context, started.run.id, companyId, waitMs, rpcContext);
  if (typeof end === "object") {
    return { run: endedRun(started, end), existing: false, timedOut: false };
  }
  const run = await loadRun(context, companyId, started.run.id);
  return {
    run: toRunMessage(run, []),
    existing: false,
    timedOut: end === "timeout" && !isTerminal(run.status),
  };
}

async function loadRun(context: ServiceContext, companyId: string, runId: string): Promise<RunRow> {
  const run = await findRun(context.database, companyId, runId);
  if (run === null) throw new Error("a run that was started is not there");
  return run;
}

function waitForEnd(
  { endedRuns, database }: ServiceContext,
  runId: string,
  companyId: string,
  waitMs: number,
  { signal }: RpcContext,
): ReturnType<EndedRuns["wait"]> {
  const isEnded = async (): Promise<boolean> => {
    const run = await findRun(database, companyId, runId);
    return run !== null && isTerminal(run.status);
  };
  return endedRuns.wait(runId, waitMs, isEnded, signal);
}

type NewlyStarted = Extract<StartedRun, { existing: false }>;

/** What is known of a run that was just stored, without reading it back. */
export function acceptedRun({ run, deployment }: Pick<NewlyStarted, "run" | "deployment">): Run {
  return {
    ...toRunSummary({
      id: run.id,
      workflow_id: run.workflowId,
      workflow_name: deployment.name,
      workflow_version: run.workflowVersion,
      status: "pending",
      trigger_type: run.triggerType,
      error: null,
      restarted_from_run_id: null,
      created_at: run.createdAt,
      started_at: null,
      completed_at: null,
    }),
    taskRuntimeRunId: run.taskRuntimeRunId,
  };
}

/** The same for a run that this process has executed to its end. */
function endedRun(started: NewlyStarted, end: RunChange): Run {
  const { startedAt, completedAt } = end;
  return {
    ...acceptedRun(started),
    status: MESSAGE_STATUS[end.status],
    inputJson: started.run.input,
    outputJson: end.output ?? undefined,
    error: toErrorMessage(end.error),
    startedAt: startedAt ?? undefined,
    completedAt: completedAt ?? undefined,
    durationMs:
      completedAt === null || startedAt === null
        ? undefined
        : completedAt.getTime() - startedAt.getTime(),
  };
}

function parseRequest(request: StartRunRequest) {
  if (!isUuid(request.workflowId)) throw new AppError("NOT_FOUND", "Workflow not found");
  const input = request.inputJson ?? "{}";
  if (Buffer.byteLength(input) > INPUT_BYTES_MAX) {
    throw new AppError("PAYLOAD_TOO_LARGE", `The input is larger than ${INPUT_BYTES_MAX} bytes.`);
  }
  const parsed = parseJsonText(input, "object");
  if (!parsed.ok) throw badRequest("input", parsed.message);
  return {
    // One spelling: the database's own.
    workflowId: request.workflowId.toLowerCase(),
    triggerType: parseTrigger(request.triggerType),
    input,
    inputValue: parsed.value,
    connectionId: parseText("connectionId", request.connectionId, ID_CHARS_MAX),
    idempotencyKey: parseText("idempotencyKey", request.idempotencyKey, KEY_CHARS_MAX),
  };
}

function parseWait(waitMs: number): number {
  if (waitMs >= 0 && waitMs <= WAIT_MS_MAX) return waitMs;
  throw badRequest("waitMs", `must be between 0 and ${WAIT_MS_MAX}`);
}

function parseTrigger(type: TriggerType): DomainTrigger {
  switch (type) {
    case TriggerType.UNSPECIFIED:
    case TriggerType.API:
      return "api";
    case TriggerType.MANUAL:
      return "manual";
    case TriggerType.WEBHOOK:
    case TriggerType.SCHEDULE:
    case TriggerType.TABLE:
    case TriggerType.UNRECOGNIZED:
    default:
      throw badRequest(
        "triggerType",
        `must be ${MESSAGE_TRIGGER.api} (API) or ${MESSAGE_TRIGGER.manual} (MANUAL)`,
      );
  }
}

function parseText(field: string, text: string | undefined, charsMax: number): string | null {
  if (text === undefined) return null;
  const fits = text.length >= 1 && text.length <= charsMax;
  if (fits && isStorableText(text)) return text;
  throw badRequest(field, `must be 1 to ${charsMax} characters of well-formed text`);
}

function badRequest(field: string, message: string): AppError {
  return new AppError("BAD_REQUEST", `${field} ${message}.`, {
    violations: [{ path: [field], message }],
  });
}
