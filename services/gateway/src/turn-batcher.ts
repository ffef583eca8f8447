import { AppError, isReason } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import type { Identity, RpcCallOptions } from "@workflow/rpc";

/** One of the requests that go together. */
export interface BatchItem<Request> {
  readonly request: Request;
  readonly call: RpcCallOptions;
}

/** How requests of one kind are sent, alone and together. */
export interface TurnBatcherOptions<Request, Response> {
  /** The most that go together. */
  itemsMax: number;
  /** The most characters that they may have together, as `charsOf` counts them. */
  charsMax: number;
  charsOf(request: Request): number;
  sendOne(request: Request, call: RpcCallOptions): Promise<Response>;
  /** Answers each in its turn, or says why it could not. */
  sendMany(
    items: readonly BatchItem<Request>[],
    call: RpcCallOptions,
  ): Promise<readonly (Response | AppError)[]>;
}

/** Why one of several requests has failed, as services tell it. */
interface Failure {
  reason: string;
  message: string;
  violations: readonly Violation[];
  /** JSON, or empty. */
  detailsJson?: string;
  /** 0 when it says nothing. */
  retryAfterMs: number;
}

interface Waiting<Request, Response> extends BatchItem<Request> {
  resolve: (response: Response) => void;
  reject: (error: unknown) => void;
}

/**
 * A gRPC call costs about 0.3 ms of CPU on its two ends, whatever it carries, which is more than all
 * else that starting a run or adding a row takes here. Requests that were read in the same turn of the
 * event loop therefore share one; a single request waits for nothing. The function that is returned
 * rejects with what the service says, as if it had been called for this request alone.
 */
export function createTurnBatcher<Request, Response extends object>(
  options: TurnBatcherOptions<Request, Response>,
): (request: Request, call: RpcCallOptions) => Promise<Response> {
  type Item = Waiting<Request, Response>;
  /** By identity, since a call speaks for one caller; an API key has one object while it is cached. */
  const gathering = new Map<Identity, Item[]>();

  const flush = (identity: Identity): void => {
    const waiting = gathering.get(identity) ?? [];
    gathering.delete(identity);
    for (const batch of batchesOf(waiting, options)) void send(batch);
  };

  const send = async (batch: readonly Item[]): Promise<void> => {
    const [first] = batch;
    if (first === undefined) return;
    try {
      if (batch.length === 1) {
        first.resolve(await options.sendOne(first.request, first.call));
        return;
      }
      const results = await options.sendMany(batch, first.call);
      for (const [index, item] of batch.entries()) {
        const result = results[index] ?? failureError(undefined);
        if (result instanceof AppError) item.reject(result);
        else item.resolve(result);
      }
    } catch (error) {
      for (const item of batch) item.reject(error);
    }
  };

  return (request, call) => {
    const { identity } = call;
    if (identity === undefined) return options.sendOne(request, call);
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
  };
}

/** The error that a service reports for one of several requests. */
export function failureError(failure: Failure | undefined): AppError {
  if (failure === undefined || !isReason(failure.reason)) {
    return new AppError("INTERNAL_ERROR", "An internal error occurred.", {
      internal: `no known result within a batch: ${failure?.reason ?? "none"}`,
    });
  }
  const { detailsJson = "", retryAfterMs } = failure;
  return new AppError(failure.reason, failure.message, {
    violations: failure.violations,
    ...(detailsJson === "" ? {} : { details: JSON.parse(detailsJson) as unknown }),
    ...(retryAfterMs === 0 ? {} : { retryAfterMs }),
  });
}

function* batchesOf<Request, Item extends BatchItem<Request>>(
  waiting: readonly Item[],
  {
    itemsMax,
    charsMax,
    charsOf,
  }: Pick<TurnBatcherOptions<Request, never>, "itemsMax" | "charsMax" | "charsOf">,
): Generator<Item[]> {
  let batch: Item[] = [];
  let chars = 0;
  for (const item of waiting) {
    const itemChars = charsOf(item.request);
    if (batch.length === itemsMax || (batch.length > 0 && chars + itemChars > charsMax)) {
      yield batch;
      batch = [];
      chars = 0;
    }
    batch.push(item);
    chars += itemChars;
  }
  if (batch.length > 0) yield batch;
}
