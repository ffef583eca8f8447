import { once } from "node:events";
import type { Writable } from "node:stream";

/** A client that takes nothing for so long is given up. */
const STALLED_MS = 120_000;

/**
 * Writes a piece of a response whose end is not known yet, and waits until the client has taken enough
 * of it. Rejects when `gone` is aborted meanwhile, and cuts off a client that has stopped reading.
 *
 * @param stream the response, or what passes everything on to it and takes it along when it is destroyed
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
