import type { ClientWritableStream } from "@grpc/grpc-js";

/** Requests that a caller makes one after another. */
export type Requests<Request> = AsyncIterable<Request> | Iterable<Request>;

/**
 * Sends requests over a call and then ends its side. The next request is taken from the iterable
 * when the one before has left; grpc-js says so up to 1 MiB early. grpc-js alone would gather 16
 * requests, however large.
 *
 * @param onFailure hears what the iterable throws while the call is open
 * @returns to be called when the call is over, whichever way: nothing more is taken, and the
 * iterable is closed
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
        // An error here is the end of the call, whose status says more. Up to that 1 MiB the answer
        // comes without a turn of the event loop: small requests would let nothing else happen.
        call.write(value, () => setImmediate(resolve));
      });
    }
  };
  // grpc-js tells everything by the call's status; an event without a listener ends the process.
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

/**
 * Closes the source without waiting: a source that hangs must not keep the caller from its answer.
 */
function close(iterator: AnyIterator): void {
  const closing = async (): Promise<void> => {
    await iterator.return?.();
  };
  closing().catch(() => {});
}
