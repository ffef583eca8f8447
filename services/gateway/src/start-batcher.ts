import type {
  RunsServiceService,
  StartRunRequest,
  StartRunResponse,
} from "@workflow/proto/runs/v1/runs";
import type { RpcCallOptions, RpcClient } from "@workflow/rpc";
import { createTurnBatcher, failureError } from "./turn-batcher.ts";

/** Starts runs that nobody waits for, those that arrive together in one call. */
export interface StartBatcher {
  /** @throws AppError what the runs service says, as if it had been called for this run alone */
  start(request: StartRunRequest, call: RpcCallOptions): Promise<StartRunResponse>;
}

/** Starts runs through `runs`, several at a time when they come together. */
export function createStartBatcher(runs: RpcClient<RunsServiceService>): StartBatcher {
  const start = createTurnBatcher<StartRunRequest, StartRunResponse>({
    itemsMax: 100,
    // Far below what a message may have; inputs may have 1 MiB each.
    charsMax: 4 * 1024 * 1024,
    charsOf: ({ inputJson }) => inputJson?.length ?? 0,
    sendOne: (request, call) => runs.startRun(request, call),
    async sendMany(items, call) {
      const requests = items.map(({ request, call: { requestId } }) => ({ ...request, requestId }));
      const { results } = await runs.startRuns({ requests }, call);
      return results.map(({ started, failure }) => started ?? failureError(failure));
    },
  });
  return { start };
}
