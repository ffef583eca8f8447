import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { isStorableText, parseJsonText } from "@workflow/json";
import type { RestartedRun, RestartRunRequest } from "@workflow/proto/runs/v1/runs";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { restartRun as restart } from "../operations/repeat-run.ts";
import { runNotFound } from "./read-run.ts";
import { toRestartedMessage } from "./retry-run.ts";

/** The limit for the input of every run (D4). */
const INPUT_BYTES_MAX = 1024 * 1024;
/** Longer than any path that a definition can have. */
const STEP_CHARS_MAX = 4_096;

/** Starts a run that repeats another one from a step on. */
export function restartRun(context: ServiceContext): UnaryMethod<RestartRunRequest, RestartedRun> {
  return rpc({
    scopes: "workflows:execute",
    async handler(request, caller) {
      const command = parseCommand(request);
      if (!isId("run_", request.runId)) throw runNotFound();
      const repeated = await restart(context, caller, request.runId, command);
      return toRestartedMessage(request.runId, repeated);
    },
  });
}

function parseCommand({ fromStepId, overrideInputJson }: RestartRunRequest) {
  const isText = fromStepId.length >= 1 && fromStepId.length <= STEP_CHARS_MAX;
  if (!isText || !isStorableText(fromStepId)) {
    throw badRequest("fromStepId", `must be 1 to ${STEP_CHARS_MAX} characters of well-formed text`);
  }
  if (overrideInputJson === undefined) return { fromStepId, overrideInput: undefined };
  if (Buffer.byteLength(overrideInputJson) > INPUT_BYTES_MAX) {
    const message = `overrideInput is larger than ${INPUT_BYTES_MAX} bytes.`;
    throw new AppError("PAYLOAD_TOO_LARGE", message);
  }
  const parsed = parseJsonText(overrideInputJson, "object");
  if (!parsed.ok) throw badRequest("overrideInput", parsed.message);
  return { fromStepId, overrideInput: parsed.value };
}

function badRequest(field: string, message: string): AppError {
  return new AppError("BAD_REQUEST", `${field} ${message}.`, {
    violations: [{ path: [field], message }],
  });
}
