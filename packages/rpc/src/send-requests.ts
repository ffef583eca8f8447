import type { ClientWritableStream } from "@grpc/grpc-js";

/** Requests that a caller makes one after another. */
export type Requests<Request> = AsyncIterable<Request> | Iterable<Request>;

/**
 * Sends requests over a call and then ends this side of the call. The next request is taken from the iterable
 * when the previous one has left. grpc-js reports that up to 1 MiB early; by itself grpc-js would gather 16
 * requests of any size.
 *
 * @param onFailure called with an error of the iterable while the call is open
 * @returns a function to call when the call is over in any way: no more requests are taken, and the iterable
 * is closed
 */
export function sendRequests(
  call: ClientWritableStream<unknown>,
  requests: Requests<unknown>,
  onFailure: (error: unknown) => void,
): () => void {
  const iterator = iteratorOf(requests);
  let isFinished = false;
  let isOver = false;
  let release = (): void => {};

  const sendAll = async (): Promise<void> => {
    while (!isOver) {
      const { done, value } = await nextOf(iterator);
      if (done === true) {
        isFinished = true;
        call.end();
        return;
      }
      if (isOver) return;
      await new Promise<void>((resolve) => {
        release = resolve;
        // An error here is the end of the call, whose status says more. Up to that 1 MiB grpc-js answers
        // without a turn of the event loop, so small requests would block other work.
        call.write(value, () => setImmediate(resolve));
      });
    }
  };
  // grpc-js reports all errors by the call's status. An error event without a listener would end the process.
  call.on("error", () => {});
  sendAll().catch((error: unknown) => {
    isFinished = true;
    if (!isOver) onFailure(error);
  });

  return () => {
    if (isOver) return;
    isOver = true;
    release();
    if (!isFinished) close(iterator);
  };
}

type AnyIterator = AsyncIterator<unknown> | Iterator<unknown>;

function iteratorOf(requests: Requests<unknown>): AnyIterator {
  return Symbol.asyncIterator in requests
    ? requests[Symbol.asyncIterator]()
    : requests[Symbol.iterator]();
}

async function nextOf(iterator: AnyIterator): Promise<IteratorResult<unknown, unknown>> {
  return iterator.next();
}

/** Closing is not awaited: a source that hangs must not delay the caller's answer. */
function close(iterator: AnyIterator): void {
  const closing = async (): Promise<void> => {
    await iterator.return?.();
  };
  closing().catch(() => {});
}
