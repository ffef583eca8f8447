import { AppError } from "@workflow/errors";
import { fromItemFailure } from "@workflow/rpc";
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
  /** Requests of different lines never go together; by default all stand in one. */
  partitionKey?(request: Request): string;
  /**
   * While so many calls of a line are under way its requests gather; for those that would only wait
   * for each other behind the service. By default none waits.
   */
  concurrencyMax?: number;
  sendOne(request: Request, call: RpcCallOptions): Promise<Response>;
  /** Answers each, or says why it could not, in any order and as soon as it is known. */
  sendMany(
    items: readonly BatchItem<Request>[],
    call: RpcCallOptions,
  ): AsyncIterable<BatchResult<Response>>;
}

/** What became of the request at a place in its batch. */
export interface BatchResult<Response> {
  index: number;
  result: Response | AppError;
}

interface Waiting<Request, Response> extends BatchItem<Request> {
  resolve: (response: Response) => void;
  reject: (error: unknown) => void;
}

/**
 * A gRPC call costs about 0.3 ms of CPU on its two ends, whatever it carries, which is more than all
 * else that starting a run or adding a row takes here. Requests that were read in the same turn of the
 * event loop therefore share one, as do those of a line that has to wait; a single request waits for
 * nothing. The function that is returned rejects with what the service says, as if it had been called for this request alone.
 */
export function createTurnBatcher<Request, Response extends object>(
  options: TurnBatcherOptions<Request, Response>,
): (request: Request, call: RpcCallOptions) => Promise<Response> {
  type Item = Waiting<Request, Response>;
  type Line = { waiting: Item[]; calls: number; isDue: boolean };
  const { concurrencyMax = Number.POSITIVE_INFINITY } = options;
  /** By identity, since a call speaks for one caller; an API key has one object while it is cached. */
  const linesOf = new Map<Identity, Map<string, Line>>();

  const findLine = (identity: Identity, name: string): Line => {
    const lines = linesOf.get(identity) ?? new Map<string, Line>();
    linesOf.set(identity, lines);
    const line = lines.get(name) ?? { waiting: [], calls: 0, isDue: false };
    lines.set(name, line);
    return line;
  };

  const forgetIdle = (identity: Identity, name: string): void => {
    const lines = linesOf.get(identity);
    const line = lines?.get(name);
    if (lines === undefined || line === undefined) return;
    if (line.calls > 0 || line.waiting.length > 0 || line.isDue) return;
    lines.delete(name);
    if (lines.size === 0) linesOf.delete(identity);
  };

  const flush = (line: Line, identity: Identity, name: string): void => {
    line.isDue = false;
    while (line.waiting.length > 0 && line.calls < concurrencyMax) {
      const batch = line.waiting.splice(0, batchSize(line.waiting, options));
      line.calls += 1;
      void send(batch).finally(() => {
        line.calls -= 1;
        flush(line, identity, name);
      });
    }
    forgetIdle(identity, name);
  };

  const send = async (batch: readonly Item[]): Promise<void> => {
    const [first] = batch;
    if (first === undefined) return;
    try {
      if (batch.length === 1) {
        first.resolve(await options.sendOne(first.request, first.call));
        return;
      }
      const unanswered = new Set(batch);
      // The client of one request must not end the call of all.
      const { signal: _, ...call } = first.call;
      for await (const { index, result } of options.sendMany(batch, call)) {
        const item = batch[index];
        if (item === undefined || !unanswered.delete(item)) continue;
        if (result instanceof AppError) item.reject(result);
        else item.resolve(result);
      }
      for (const item of unanswered) item.reject(fromItemFailure(undefined));
    } catch (error) {
      // Whoever has an answer does not notice.
      for (const item of batch) item.reject(error);
    }
  };

  return (request, call) => {
    const { identity } = call;
    if (identity === undefined) return options.sendOne(request, call);
    return new Promise((resolve, reject) => {
      const name = options.partitionKey?.(request) ?? "";
      const line = findLine(identity, name);
      line.waiting.push({ request, call, resolve, reject });
      if (line.isDue || line.calls >= concurrencyMax) return;
      line.isDue = true;
      setImmediate(flush, line, identity, name);
    });
  };
}

/** How many of those that wait go into the next call. */
function batchSize<Request>(
  waiting: readonly BatchItem<Request>[],
  {
    itemsMax,
    charsMax,
    charsOf,
  }: Pick<TurnBatcherOptions<Request, never>, "itemsMax" | "charsMax" | "charsOf">,
): number {
  let chars = 0;
  const end = waiting.findIndex(({ request }, place) => {
    chars += charsOf(request);
    return place === itemsMax || (place > 0 && chars > charsMax);
  });
  return end === -1 ? waiting.length : end;
}
