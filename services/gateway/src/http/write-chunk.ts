import { once } from "node:events";
import type { Writable } from "node:stream";

/** A client that reads nothing for this long is cut off. */
const STALLED_MS = 120_000;

/**
 * Writes a piece of a response of unknown length, and waits until the client has read enough of it.
 * Rejects when `gone` is aborted meanwhile, and cuts a client that has stopped reading.
 *
 * @param stream the response, or a stream that feeds it and destroys it when it is destroyed
 */
export async function writeChunk(
  stream: Writable,
  chunk: string | Uint8Array,
  gone: AbortSignal,
): Promise<void> {
  if (stream.write(chunk)) return;
  const stalled = AbortSignal.timeout(STALLED_MS);
  try {
    await once(stream, "drain", { signal: AbortSignal.any([gone, stalled]) });
  } catch (error) {
    if (stalled.aborted) stream.destroy();
    throw error;
  }
}
