import type { ServerReadableStream } from "@grpc/grpc-js";
import type { CallContext } from "./context.ts";

/**
 * Yields the requests of a client stream. A request is read off the connection only when the
 * handler asks for it: the sender keeps the handler's pace, and one request is in memory. grpc-js
 * itself reads 16 ahead, however large. The iteration ends with an error as soon as the call is
 * aborted.
 *
 * @param unbox makes the request of what was read
 * @param onEnd the caller has sent everything
 */
export async function* readRequests<T>(
  call: ServerReadableStream<T, Buffer>,
  context: CallContext,
  unbox: (item: T) => unknown,
  onEnd: () => void,
): AsyncGenerator<unknown, void, undefined> {
  const readOne = holdBack(call);
  const stop = (): void => void call.destroy();
  context.signal.addEventListener("abort", stop, { once: true });
  try {
    const items: AsyncIterator<T> = call[Symbol.asyncIterator]();
    for (;;) {
      if (context.abortReason !== undefined) throw context.abortReason;
      readOne();
      const { done, value } = await items.next();
      if (done === true) break;
      yield unbox(value);
    }
    onEnd();
  } catch (error) {
    // The abort's reason says more than the error of the destroyed stream.
    throw context.abortReason ?? error;
  } finally {
    context.signal.removeEventListener("abort", stop);
  }
}

/** Makes a stream read nothing by itself; returns what lets it read one item. */
function holdBack(call: ServerReadableStream<unknown, Buffer>): () => void {
  const read = call._read.bind(call);
  let isAllowed = false;
  let isWanted = false;
  call._read = (size) => {
    if (isAllowed) {
      isAllowed = false;
      read(size);
    } else {
      isWanted = true;
    }
  };
  return () => {
    if (isWanted) {
      isWanted = false;
      read(1);
    } else {
      isAllowed = true;
    }
  };
}
