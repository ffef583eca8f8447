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

/** Starts runs; starts that arrive together share one call. */
export interface StartBatcher {
  /**
   * Starts a run and, with `waitMs`, waits for its end. When the gateway stops, the wait ends early
   * with the run and its status, and `timedOut` is false.
   *
   * @throws AppError the error of the runs service for this run alone
   */
  start(request: StartRunRequest, call: RpcCallOptions): Promise<StartRunResponse>;
}

const REQUESTS_MAX = 100;
/** Inputs may have 1 MiB each; this limit keeps a call far below the size of a message. */
const CHARS_MAX = 4 * 1024 * 1024;
/** The time beyond a run's wait, so that the service answers before the call times out. */
const WAIT_MARGIN_MS = 10_000;

/** A start whose caller waits. */
interface WaitingStart {
  readonly message: StartRunRequest;
  /** Receives the stored run when its caller has to wait for the end. */
  readonly onWaiting: (run: Run) => void;
}

/**
 * Creates a batcher that starts runs through `runs`.
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

/** Starts runs in one call, and yields each run when it ends. */
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

/** Limits the wait of one caller. A shared call lasts as long as its longest wait. */
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

/** Gives a run the ids of its own request. The shared call has the ids of one request only. */
function withRequestId({
  request,
  call: { requestId, traceparent },
}: BatchItem<StartRunRequest>): StartRunRequest {
  return { ...request, requestId, traceparent };
}

/** Makes the shared call part of the first recorded trace among its requests. */
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
