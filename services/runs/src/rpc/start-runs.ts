import { AppError } from "@workflow/errors";
import type { StartRunsRequest, StartRunsResponse } from "@workflow/proto/runs/v1/starts";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { startSafely } from "./start-safely.ts";

/** Most starts in one call. */
export const REQUESTS_MAX = 100;

/**
 * Starts several runs in one call. A call costs far more than a message in it, so the gateway batches
 * starts that arrive together.
 */
export function startRuns(
  context: ServiceContext,
): UnaryMethod<StartRunsRequest, StartRunsResponse> {
  return rpc({
    scopes: "workflows:execute",
    async handler({ requests }, rpcContext) {
      if (requests.length < 1 || requests.length > REQUESTS_MAX) {
        throw badRequests(`must have 1 to ${REQUESTS_MAX} entries`);
      }
      if (requests.some(({ waitMs }) => waitMs !== 0)) {
        throw badRequests("must not wait; use StartRun to wait for a run");
      }
      const results = requests.map((request) => startSafely(context, request, rpcContext));
      return { results: await Promise.all(results) };
    },
  });
}

/** @returns the error for a malformed list of requests */
export function badRequests(message: string): AppError {
  return new AppError("BAD_REQUEST", `requests ${message}.`, {
    violations: [{ path: ["requests"], message }],
  });
}
