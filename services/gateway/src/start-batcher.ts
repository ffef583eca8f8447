import { AppError, isReason } from "@workflow/errors";
import type {
  RunsServiceService,
  StartRunFailure,
  StartRunRequest,
  StartRunResponse,
} from "@workflow/proto/runs/v1/runs";
import type { Identity, RpcCallOptions, RpcClient } from "@workflow/rpc";

/** Starts runs that nobody waits for, those that arrive together in one call. */
export interface StartBatcher {
  /** @throws AppError what the runs service says, as if it had been called for this run alone */
  start(request: StartRunRequest, call: RpcCallOptions): Promise<StartRunResponse>;
}

interface Waiting {
  request: StartRunRequest;
  call: RpcCallOptions;
  resolve: (response: StartRunResponse) => void;
  reject: (error: unknown) => void;
}

const BATCH_MAX = 100;
/** Far below what a message may have; inputs may have 1 MiB each. */
const BATCH_INPUT_CHARS_MAX = 4 * 1024 * 1024;

/**
 * A gRPC call costs about 0.3 ms of CPU on its two ends, whatever it carries, which is more than
 * everything else that starting a run takes. Requests that were read in the same turn of the event
 * loop therefore share one; a single request waits for nothing.
 */
export function createStartBatcher(runs: RpcClient<RunsServiceService>): StartBatcher {
  /** By identity, since a call speaks for one caller; an API key has one object while it is cached. */
  const gathering = new Map<Identity, Waiting[]>();

  const flush = (identity: Identity): void => {
    const waiting = gathering.get(identity) ?? [];
    gathering.delete(identity);
    for (const batch of batchesOf(waiting)) void send(batch);
  };

  const send = async (batch: readonly Waiting[]): Promise<void> => {
    const [first] = batch;
    if (first === undefined) return;
    try {
      if (batch.length === 1) {
        first.resolve(await runs.startRun(first.request, first.call));
        return;
      }
      const requests = batch.map(({ request, call }) => ({
        ...request,
        requestId: call.requestId,
      }));
      const { results } = await runs.startRuns({ requests }, first.call);
      for (const [index, item] of batch.entries()) {
        const result = results[index];
        if (result?.started !== undefined) item.resolve(result.started);
        else item.reject(toAppError(result?.failure));
      }
    } catch (error) {
      for (const item of batch) item.reject(error);
    }
  };

  return {
    start(request, call) {
      const { identity } = call;
      if (identity === undefined) return runs.startRun(request, call);
      return new Promise((resolve, reject) => {
        const waiting = gathering.get(identity);
        const item = { request, call, resolve, reject };
        if (waiting !== undefined) {
          waiting.push(item);
          return;
        }
        gathering.set(identity, [item]);
        setImmediate(flush, identity);
      });
    },
  };
}

function* batchesOf(waiting: readonly Waiting[]): Generator<Waiting[]> {
  let batch: Waiting[] = [];
  let chars = 0;
  for (const item of waiting) {
    const itemChars = item.request.inputJson?.length ?? 0;
    if (
      batch.length === BATCH_MAX ||
      (batch.length > 0 && chars + itemChars > BATCH_INPUT_CHARS_MAX)
    ) {
      yield batch;
      batch = [];
      chars = 0;
    }
    batch.push(item);
    chars += itemChars;
  }
  if (batch.length > 0) yield batch;
}

function toAppError(failure: StartRunFailure | undefined): AppError {
  if (failure === undefined || !isReason(failure.reason)) {
    return new AppError("INTERNAL_ERROR", "An internal error occurred.", {
      internal: `StartRuns gave no known result: ${failure?.reason ?? "none"}`,
    });
  }
  return new AppError(failure.reason, failure.message, {
    violations: failure.violations,
    ...(failure.detailsJson === "" ? {} : { details: JSON.parse(failure.detailsJson) as unknown }),
    ...(failure.retryAfterMs === 0 ? {} : { retryAfterMs: failure.retryAfterMs }),
  });
}
