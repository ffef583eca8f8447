import { AppError } from "@workflow/errors";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import type {
  StartRunRequest,
  StartRunResponse,
  StartRunsResult,
} from "@workflow/proto/runs/v1/starts";
import { fromItemFailure } from "@workflow/rpc";
import type { RpcCallOptions, RpcClient } from "@workflow/rpc";
import { isSampled } from "@workflow/tracing";
import { StoppableWaits } from "./stoppable-waits.ts";
import { createTurnBatcher } from "./turn-batcher.ts";
import type { BatchItem, BatchResult } from "./turn-batcher.ts";

/** Starts runs, those that arrive together in one call. */
export interface StartBatcher {
  /**
   * Starts a run and, with `waitMs`, waits for its end; no longer than until the gateway stops, when it
   * answers with the run and its status, `timedOut` false.
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

/** A start whose caller waits. */
interface WaitingStart {
  readonly message: StartRunRequest;
  /** Hears which run is waited for, when that takes longer. */
  readonly onWaiting: (run: Run) => void;
}

/**
 * Starts runs through `runs`, several at a time when they come together.
 *
 * @param stopping aborted when the gateway stops
 */
export function createStartBatcher(
  runs: RpcClient<RunsServiceService>,
  stopping: AbortSignal,
): StartBatcher {
  const limits = { itemsMax: REQUESTS_MAX, charsMax: CHARS_MAX };
  const charsOf = ({ inputJson }: StartRunRequest): number => inputJson?.length ?? 0;
  const start = createTurnBatcher<StartRunRequest, StartRunResponse>({
    ...limits,
    charsOf,
    sendOne: (request, call) => runs.startRun(request, call),
    async *sendMany(items, call) {
      const requests = items.map(withRequestId);
      const { results } = await runs.startRuns({ requests }, withTrace(items, call));
      for (const [index, result] of results.entries()) yield { index, result: responseOf(result) };
    },
  });
  const waits = new StoppableWaits(runs, stopping);
  const startAndWait = createTurnBatcher<WaitingStart, StartRunResponse>({
    ...limits,
    charsOf: ({ message }) => charsOf(message),
    async sendOne(request, call) {
      for await (const { result } of startAll(runs, [{ request, call }], call)) {
        if (result instanceof AppError) throw result;
        return result;
      }
      throw fromItemFailure(undefined);
    },
    sendMany: (items, call) => startAll(runs, items, call),
  });
  return {
    start: (message, call) =>
      message.waitMs > 0
        ? waits.wait(call, (onWaiting) =>
            within(message.waitMs + WAIT_MARGIN_MS, startAndWait({ message, onWaiting }, call)),
          )
        : start(message, call),
  };
}

/** Starts runs in one call, and tells of each when it is over. */
async function* startAll(
  runs: RpcClient<RunsServiceService>,
  items: readonly BatchItem<WaitingStart>[],
  call: RpcCallOptions,
): AsyncGenerator<BatchResult<StartRunResponse>> {
  const requests = items.map((item) => withRequestId({ ...item, request: item.request.message }));
  const timeoutMs = Math.max(...requests.map(({ waitMs }) => waitMs)) + WAIT_MARGIN_MS;
  const options = { ...withTrace(items, call), timeoutMs };
  for await (const { results } of runs.startRunsAndWait({ requests }, options)) {
    for (const { index, result, waiting } of results) {
      if (waiting === undefined) yield { index, result: responseOf(result) };
      else items[index]?.request.onWaiting(waiting);
    }
  }
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

/** A shared call has the ids of one of them; each run is to carry those of its own request. */
function withRequestId({
  request,
  call: { requestId, traceparent },
}: BatchItem<StartRunRequest>): StartRunRequest {
  return { ...request, requestId, traceparent };
}

/** The call is a part of the first trace of them that is recorded. */
function withTrace(items: readonly BatchItem<unknown>[], call: RpcCallOptions): RpcCallOptions {
  const recorded = items.find(({ call: { traceparent } }) => isRecorded(traceparent));
  return recorded === undefined ? call : { ...call, traceparent: recorded.call.traceparent };
}

function isRecorded(traceparent: string | undefined): boolean {
  return traceparent !== undefined && isSampled(traceparent);
}

function responseOf(result: StartRunsResult | undefined): StartRunResponse | AppError {
  return result?.started ?? fromItemFailure(result?.failure);
}
