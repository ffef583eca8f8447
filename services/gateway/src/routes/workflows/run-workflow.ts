import type { IncomingHttpHeaders } from "node:http";
import { AppError, isAppError } from "@workflow/errors";
import { TriggerType } from "@workflow/proto/runs/v1/run";
import type { StartRunRequest, StartRunResponse } from "@workflow/proto/runs/v1/starts";
import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import { NO_QUERY, route } from "../../route.ts";
import type { RouteContext } from "../../route-context.ts";
import { idempotencyKey, runOptions } from "./run-options.ts";
import { toRunReply } from "./run-reply.ts";
import { workflowStatusName } from "./workflow-json.ts";
import { endedStartSchema, pendingStartSchema } from "./run-answer-schema.ts";

const INPUT_BYTES_MAX = 1024 * 1024;
const BODY_BYTES_MAX = 2 * 1024 * 1024;

export const runWorkflow = route({
  method: "POST",
  path: "/workflows/{id}/run",
  scope: "workflows:execute",
  bucket: "execute",
  audit: null,
  summary: "Run a workflow",
  description: [
    "In the mode async the run is stored, and the answer is 202 with its id at once; it goes on whatever happens to the caller.",
    "In the mode sync the answer comes when the run has ended, after `maxExecutionTimeMs` (30 s by default) at the latest: 200 with the output of a run that completed.",
    "When the time is over the run goes on: 202 with `timed_out`, or 408 EXECUTION_TIMEOUT with `onTimeout: throw_error`.",
    "A run that failed, was cancelled or timed out meanwhile is 500 TRIGGER_ERROR; with `onFailure: switch_to_async` it is 202 with the same error in `data.error`.",
    "\n\nWith an idempotency key a request may be repeated: within 24 hours the same key of the workflow answers 200 with the first run, whatever its status or input, and starts none.",
    "Without a key each request starts a run.",
    "503 with `details.mayHaveStarted` means that no answer came and a run may exist; only with a key is it safe to repeat.",
    "\n\nThe workflow has to be active, else 400 WORKFLOW_NOT_ACTIVE.",
    "The input has to fit its `inputSchema`, else 400 VALIDATION_ERROR with the places in `details`.",
    "The input may have 1 MiB.",
    "429 stands for the rate of the execute bucket, or in `details.limit` for too many pending runs (`backlog`) or waiting callers (`syncWaits`); no run was started then.",
  ],
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  requestHeaders: ["Idempotency-Key"],
  body: { schema: runOptions, optional: true, bytesMax: BODY_BYTES_MAX },
  responses: {
    200: {
      description: "The run completed, or the idempotency key names a run that was started before.",
      data: endedStartSchema,
    },
    202: {
      description:
        "The run was started and has not ended, or has failed and onFailure is switch_to_async.",
      data: pendingStartSchema,
    },
  },
  errors: [
    "NOT_FOUND",
    "WORKFLOW_NOT_ACTIVE",
    "VALIDATION_ERROR",
    "EXECUTION_TIMEOUT",
    "TRIGGER_ERROR",
  ],
  handler: async (context, { params, body, rawJson }) => {
    const inputJson = rawJson("input");
    if (inputJson !== undefined && Buffer.byteLength(inputJson) > INPUT_BYTES_MAX) {
      throw new AppError("PAYLOAD_TOO_LARGE", `input must be at most ${INPUT_BYTES_MAX} bytes.`);
    }
    const started = await startRun(context, {
      workflowId: params.id,
      inputJson,
      connectionId: body.connectionId,
      idempotencyKey: resolveIdempotencyKey(body.idempotencyKey, context.headers),
      triggerType: TriggerType.API,
      waitMs: body.mode === "sync" ? body.maxExecutionTimeMs : 0,
      requestId: undefined,
    });
    return toRunReply(started, body, context.requestId);
  },
});

/**
 * The key of the body, else of the header `Idempotency-Key` (D25). The body's key wins, because a
 * client or a proxy may put the header on every request.
 */
function resolveIdempotencyKey(
  inBody: string | undefined,
  headers: IncomingHttpHeaders,
): string | undefined {
  const header = headers["idempotency-key"];
  const inHeader = Array.isArray(header) ? header.join(",") : header;
  if (inBody !== undefined || inHeader === undefined) return inBody;
  const checked = idempotencyKey.safeParse(inHeader);
  if (checked.success) return checked.data;
  const message = checked.error.issues[0]?.message ?? "is not valid";
  throw new AppError("BAD_REQUEST", `The request is not valid: Idempotency-Key ${message}.`, {
    violations: [{ path: ["idempotencyKey"], message }],
  });
}

async function startRun(
  context: RouteContext,
  request: StartRunRequest,
): Promise<StartRunResponse> {
  const { starts, call } = context;
  try {
    return await starts.start(request, call);
  } catch (error) {
    if (!isAppError(error)) throw error;
    if (error.reason === "NOT_FOUND") throw await explainNotDeployed(context, request.workflowId);
    throw isRefusal(error) ? error : maybeStarted(error, request.idempotencyKey !== undefined);
  }
}

/** An error of the service itself has its own reason, or a time to retry after. */
function isRefusal({ reason, retryAfterMs }: AppError): boolean {
  return reason !== "UNAVAILABLE" || retryAfterMs !== undefined;
}

/** The connection broke or timed out: a run may have been stored already. */
function maybeStarted(cause: AppError, hasKey: boolean): AppError {
  const whatToDo = hasKey
    ? "Repeat the request with the same idempotency key."
    : "Look for it in the workflow's runs before you start another; with an idempotencyKey a request may be repeated.";
  const message = `The run may have been started, though no answer came. ${whatToDo}`;
  return new AppError("UNAVAILABLE", message, { details: { mayHaveStarted: true }, cause });
}

/**
 * The execution plane knows only workflows that were active once, so the control plane decides
 * whether this one exists. Rejects with its NOT_FOUND when it does not.
 */
async function explainNotDeployed(context: RouteContext, workflowId: string): Promise<AppError> {
  const { workflows, callWithScope } = context;
  const workflow = await workflows.getWorkflow({ workflowId }, callWithScope("workflows:read"));
  if (workflow.status === WorkflowStatus.ACTIVE) {
    const message = "The workflow's activation is not complete yet. Try again shortly.";
    return new AppError("UNAVAILABLE", message, { retryAfterMs: 1_000 });
  }
  return new AppError("WORKFLOW_NOT_ACTIVE", "The workflow is not active.", {
    details: { currentStatus: workflowStatusName(workflow.status) },
  });
}
