import { Batcher } from "@workflow/async";
import type { Asked } from "@workflow/async";
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

/**
 * A gRPC call costs about 0.3 ms of CPU on its two ends, whatever it carries, which is more than all
 * else that starting a run or adding a row takes here. Requests that were read in the same turn of the
 * event loop therefore share one, as do those of a line that has to wait; a single request waits for
 * nothing.
 *
 * @returns asks for one; rejects with what the service says, as if it had been called for this request alone
 */
export function createTurnBatcher<Request, Response extends object>(
  options: TurnBatcherOptions<Request, Response>,
): (request: Request, call: RpcCallOptions) => Promise<Response> {
  type Line = Batcher<BatchItem<Request>, Response>;
  /** By identity, since a call speaks for one caller; an API key has one object while it is cached. */
  const linesOf = new Map<Identity, Map<string, Line>>();

  const findLine = (identity: Identity, name: string): Line => {
    const lines = linesOf.get(identity) ?? new Map<string, Line>();
    linesOf.set(identity, lines);
    const line = lines.get(name) ?? newLine(() => forget(identity, name));
    lines.set(name, line);
    return line;
  };

  const newLine = (onIdle: () => void): Line =>
    new Batcher({
      itemsMax: options.itemsMax,
      sizeMax: options.charsMax,
      sizeOf: ({ request }) => options.charsOf(request),
      batchesMax: options.concurrencyMax,
      handle: (batch) => send(options, batch),
      onIdle,
    });

  const forget = (identity: Identity, name: string): void => {
    const lines = linesOf.get(identity);
    lines?.delete(name);
    if (lines?.size === 0) linesOf.delete(identity);
  };

  return (request, call) => {
    const { identity } = call;
    if (identity === undefined) return options.sendOne(request, call);
    const name = options.partitionKey?.(request) ?? "";
    return findLine(identity, name).ask({ request, call });
  };
}

async function send<Request, Response extends object>(
  { sendOne, sendMany }: Pick<TurnBatcherOptions<Request, Response>, "sendOne" | "sendMany">,
  batch: readonly Asked<BatchItem<Request>, Response>[],
): Promise<void> {
  const [first] = batch;
  if (first === undefined) return;
  if (batch.length === 1) {
    first.resolve(await sendOne(first.item.request, first.item.call));
    return;
  }
  const unanswered = new Set(batch);
  // The client of one request must not end the call of all.
  const { signal: _, ...call } = first.item.call;
  const items = batch.map(({ item }) => item);
  for await (const { index, result } of sendMany(items, call)) {
    const asked = batch[index];
    if (asked === undefined || !unanswered.delete(asked)) continue;
    if (result instanceof AppError) asked.reject(result);
    else asked.resolve(result);
  }
  for (const { reject } of unanswered) reject(fromItemFailure(undefined));
}
