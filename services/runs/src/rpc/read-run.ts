import type { GetRunRequest, ReadRunResponse } from "@workflow/proto/runs/v1/runs";
import { rpcServerStream } from "@workflow/rpc";
import type { ServerStreamMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { readRun as readPieces } from "../operations/read-run.ts";
import { runNotFound } from "./get-run.ts";
import { toRunMessage, toStepMessage } from "./run-message.ts";

/** Returns one run with its step results piece by piece. */
export function readRun(
  context: ServiceContext,
): ServerStreamMethod<GetRunRequest, ReadRunResponse> {
  return rpcServerStream({
    scopes: "runs:read",
    async *handler({ runId }, { identity, signal }) {
      let isThere = false;
      for await (const piece of readPieces(context, identity.companyId, runId, signal)) {
        isThere = true;
        if (piece.kind === "run") yield { part: { $case: "run", value: toRunMessage(piece.run) } };
        else {
          const results = piece.steps.map(toStepMessage);
          yield { part: { $case: "steps", value: { results } } };
        }
      }
      if (!isThere) throw runNotFound();
    },
  });
}
