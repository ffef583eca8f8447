import type { Shares } from "@workflow/async";
import { isUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { isStorableText, parseJsonText } from "@workflow/json";
import { TriggerType } from "@workflow/proto/runs/v1/run";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { StartRunRequest, StartRunResponse } from "@workflow/proto/runs/v1/starts";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import { recordedTraceparent } from "@workflow/tracing";
import type { ServiceContext } from "../context.ts";
import { isTerminal } from "../domain/run-status.ts";
import type { TriggerType as DomainTrigger } from "../domain/run-status.ts";
import type { RunChange } from "../domain/step-records.ts";
import type { EndedRuns } from "../engine/ended-runs.ts";
import type { StartCommand, StartedRun } from "../starting/run-starter.ts";
import { findRun, findSummary } from "../store/read-runs.ts";
import type { RunRow } from "../store/read-runs.ts";
import { holdRun, withRuntimeStatus } from "./read-run.ts";
import {
  MESSAGE_STATUS,
  MESSAGE_TRIGGER,
  toErrorMessage,
  toRunMessage,
  toRunSummary,
} from "./run-message.ts";

/** The limit for the input of every run (D4). */
const INPUT_BYTES_MAX = 1024 * 1024;
const KEY_CHARS_MAX = 255;
const ID_CHARS_MAX = 255;
/** The contract's longest wait of a synchronous run. */
const WAIT_MS_MAX = 300_000;
const RETRY_AFTER_MS = 1_000;
/** Most runs end earlier: a second message for each would be wasted. */
const TELL_OF_WAIT_AFTER_MS = 1_000;

/** Starts a run and, with `wait_ms`, waits for its end. */
export function startRun(context: ServiceContext): UnaryMethod<StartRunRequest, StartRunResponse> {
  return rpc({
    scopes: "workflows:execute",
    handler: (request, rpcContext) => {
      // A run that a batch starts has a trace of its own or none: the call's trace belongs to another
      // run.
      const traceparent = request.traceparent ?? rpcContext.traceparent;
      return startOne(context, { ...request, traceparent }, rpcContext);
    },
  });
}

/**
 * Starts one run on behalf of a caller. The RPC lists its errors.
 *
 * @param onWaiting called with the run that is waited for, when that takes longer
 */
export async function startOne(
  context: ServiceContext,
  request: StartRunRequest,
  rpcContext: RpcContext,
  onWaiting: (run: Run) => void = () => {},
): Promise<StartRunResponse> {
  const { companyId } = rpcContext.identity;
  const waitMs = parseWait(request.waitMs);
  const command: StartCommand = {
    companyId,
    ...parseRequest(request),
    requestId: parseText("requestId", request.requestId, ID_CHARS_MAX) ?? rpcContext.requestId,
    traceparent: recordedTraceparent(context.tracer, request.traceparent),
    hasSyncWaiter: waitMs > 0,
  };
  // The place is taken before the start: a caller who is refused has started nothing.
  const leave = waitMs > 0 ? takeWaitingPlace(context.syncWaits, companyId) : () => {};
  try {
    return await startAndWait(context, command, { waitMs, onWaiting }, rpcContext);
  } finally {
    leave();
  }
}

function takeWaitingPlace(syncWaits: Shares, companyId: string): () => void {
  const leave = syncWaits.take(companyId);
  if (leave !== null) return leave;
  const message = "Too many callers of the company wait for the runs that they have started.";
  throw new AppError("RATE_LIMITED", message, {
    details: { limit: "syncWaits" },
    retryAfterMs: RETRY_AFTER_MS,
  });
}

async function startAndWait(
  context: ServiceContext,
  command: StartCommand,
  { waitMs, onWaiting }: { waitMs: number; onWaiting: (run: Run) => void },
  rpcContext: RpcContext,
): Promise<StartRunResponse> {
  const { companyId } = command;
  const started = await context.starter.start(command);
  if (started.existing) {
    const held = await holdRun(context, companyId, started.runId, rpcContext.signal);
    if (held === null) throw notThere();
    held.leave();
    return { run: toRunMessage(held.run), existing: true, timedOut: false };
  }
  if (waitMs === 0) return { run: acceptedRun(started), existing: false, timedOut: false };
  const timer = setTimeout(() => onWaiting(acceptedRun(started)), TELL_OF_WAIT_AFTER_MS);
  const end = await waitForEnd(context, started.run.id, waitMs, rpcContext);
  clearTimeout(timer);
  if (typeof end === "object") {
    return { run: endedRun(started, end), existing: false, timedOut: false };
  }
  // The run is read even if there is no room for its output: a start that was accepted is not refused
  // afterwards.
  const run = await findStarted(context, started.run.id, rpcContext);
  if (run === null) {
    return { run: acceptedRun(started), existing: false, timedOut: end === "timeout" };
  }
  return {
    run: toRunMessage(run),
    existing: false,
    timedOut: end === "timeout" && !isTerminal(run.status),
  };
}

/** The run as it is now; null when it can't be read. Its caller gets the id nevertheless. */
async function findStarted(
  { database, runtime }: ServiceContext,
  runId: string,
  { identity, log }: RpcContext,
): Promise<RunRow | null> {
  try {
    const run = await findRun(database, identity.companyId, runId);
    return run === null ? null : await withRuntimeStatus(run, runtime);
  } catch (error) {
    log.warn({ err: error, runId }, "a run that was waited for could not be read");
    return null;
  }
}

function notThere(): Error {
  return new Error("a run that was started is not there");
}

function waitForEnd(
  { endedRuns, database }: ServiceContext,
  runId: string,
  waitMs: number,
  { identity, signal }: RpcContext,
): ReturnType<EndedRuns["wait"]> {
  const isEnded = async (): Promise<boolean> => {
    const run = await findSummary(database, identity.companyId, runId);
    return run !== null && isTerminal(run.status);
  };
  return endedRuns.wait(runId, waitMs, isEnded, signal);
}

type NewlyStarted = Extract<StartedRun, { existing: false }>;

/** A run that was just stored, without reading it back. */
export function acceptedRun({ run, deployment }: Pick<NewlyStarted, "run" | "deployment">): Run {
  return {
    ...toRunSummary({
      id: run.id,
      workflowId: run.workflowId,
      workflowName: deployment.name,
      workflowVersion: run.workflowVersion,
      status: "pending",
      triggerType: run.triggerType,
      error: null,
      restartedFromRunId: null,
      createdAt: run.createdAt,
      startedAt: null,
      completedAt: null,
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
    // Lower case is the database's own spelling.
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
