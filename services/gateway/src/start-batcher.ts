import { AppError } from "@workflow/errors";
import type {
  RunsServiceService,
  StartRunRequest,
  StartRunResponse,
  StartRunsResult,
} from "@workflow/proto/runs/v1/runs";
import type { RpcCallOptions, RpcClient } from "@workflow/rpc";
import { createTurnBatcher, failureError } from "./turn-batcher.ts";
import type { BatchItem } from "./turn-batcher.ts";

/** Starts runs, those that arrive together in one call. */
export interface StartBatcher {
  /**
   * Starts a run and, with `waitMs`, waits for its end.
   *
   * @throws AppError what the runs service says, as if it had been called for this run alone
   */
  start(request: StartRunRequest, call: RpcCallOptions): Promise<StartRunResponse>;
}

const REQUESTS_MAX = 100;
/** Far below what a message may have; inputs may have 1 MiB each. */
const CHARS_MAX = 4 * 1024 * 1024;
/** Beyond the time that a run is waited for, so that the service answers first. */
const WAIT_MARGIN_MS = 10_000;

/** Starts runs through `runs`, several at a time when they come together. */
export function createStartBatcher(runs: RpcClient<RunsServiceService>): StartBatcher {
  const limits = {
    itemsMax: REQUESTS_MAX,
    charsMax: CHARS_MAX,
    charsOf: ({ inputJson }: StartRunRequest) => inputJson?.length ?? 0,
  };
  const start = createTurnBatcher<StartRunRequest, StartRunResponse>({
    ...limits,
    sendOne: (request, call) => runs.startRun(request, call),
    async *sendMany(items, call) {
      const { results } = await runs.startRuns({ requests: requestsOf(items) }, call);
      for (const [index, result] of results.entries()) yield { index, result: responseOf(result) };
    },
  });
  const startAndWait = createTurnBatcher<StartRunRequest, StartRunResponse>({
    ...limits,
    sendOne: (request, call) =>
      runs.startRun(request, { ...call, timeoutMs: request.waitMs + WAIT_MARGIN_MS }),
    async *sendMany(items, call) {
      const requests = requestsOf(items);
      const timeoutMs = Math.max(...requests.map(({ waitMs }) => waitMs)) + WAIT_MARGIN_MS;
      for await (const { results } of runs.startRunsAndWait({ requests }, { ...call, timeoutMs })) {
        for (const { index, result } of results) yield { index, result: responseOf(result) };
      }
    },
  });
  return {
    start: (request, call) =>
      request.waitMs > 0
        ? within(request.waitMs + WAIT_MARGIN_MS, startAndWait(request, call))
        : start(request, call),
  };
}

/** A shared call lasts as long as its longest wait; nobody is to wait for it beyond their own. */
async function within<Result>(timeoutMs: number, answer: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new AppError("UNAVAILABLE", "The service did not answer in time."));
    }, timeoutMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A shared call has an id of one of them; each run is to carry that of its own request. */
function requestsOf(items: readonly BatchItem<StartRunRequest>[]): StartRunRequest[] {
  return items.map(({ request, call: { requestId } }) => ({ ...request, requestId }));
}

function responseOf(result: StartRunsResult | undefined): StartRunResponse | AppError {
  return result?.started ?? failureError(result?.failure);
}
