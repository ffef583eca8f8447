import type { ServerReadableStream } from "@grpc/grpc-js";
import type { CallContext } from "./context.ts";

/**
 * The requests of a client stream. Each is read from the connection only on demand, so the handler's pace
 * slows the sender down, and one request is in memory. grpc-js itself reads 16 ahead, of any size. An aborted
 * call ends the iterable with an error at once.
 *
 * @param unbox returns the request in a received item
 * @param onEnd called when the caller has sent all requests
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
    // The error of a destroyed stream says less.
    throw context.abortReason ?? error;
  } finally {
    context.signal.removeEventListener("abort", stop);
  }
}

/** Stops a stream from reading by itself. Returns a function that lets the stream read one item. */
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
