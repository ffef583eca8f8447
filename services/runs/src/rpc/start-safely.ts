import type { Run } from "@workflow/proto/runs/v1/run";
import type { StartRunRequest, StartRunsResult } from "@workflow/proto/runs/v1/starts";
import type { RpcContext } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { toFailure } from "./failure-message.ts";
import { startOne } from "./start-run.ts";

/** Starts one of several runs. It never rejects: a refusal is the result of that run only. */
export async function startSafely(
  context: ServiceContext,
  request: StartRunRequest,
  rpcContext: RpcContext,
  onWaiting?: (run: Run) => void,
): Promise<StartRunsResult> {
  try {
    return { started: await startOne(context, request, rpcContext, onWaiting), failure: undefined };
  } catch (error) {
    return { started: undefined, failure: toFailure(error, rpcContext) };
  }
}
