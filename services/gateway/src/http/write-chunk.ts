import { once } from "node:events";
import type { ServerResponse } from "node:http";

/** A client that takes nothing for so long is given up. */
const STALLED_MS = 120_000;

/**
 * Writes a piece of a response whose end is not known yet, and waits until the client has taken enough
 * of it. Rejects when `gone` is aborted meanwhile, and cuts off a client that has stopped reading.
 */
export async function writeChunk(
  response: ServerResponse,
  chunk: string | Uint8Array,
  gone: AbortSignal,
): Promise<void> {
  if (response.write(chunk)) return;
  const stalled = AbortSignal.timeout(STALLED_MS);
  try {
    await once(response, "drain", { signal: AbortSignal.any([gone, stalled]) });
  } catch (error) {
    if (stalled.aborted) response.destroy();
    throw error;
  }
}
