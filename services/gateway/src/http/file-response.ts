import type { IncomingMessage, ServerResponse } from "node:http";
import { toAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import type { FileReply } from "../reply.ts";
import { beginText } from "./respond.ts";
import { writeChunk } from "./write-chunk.ts";

/** What a file needs from its request. */
interface FileOptions {
  /** Aborted when the client leaves; the source of the file stops with it. */
  exchange: AbortController;
  /** Receives an error that came too late for an answer. */
  onFailure: (error: AppError) => void;
}

/**
 * Answers with a file as fast as the client reads it. It rejects with an error that comes before
 * the first piece. A later error cuts the connection, so that half a file never looks complete.
 */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { name, contentType, chunks }: FileReply["file"],
  { exchange, onFailure }: FileOptions,
): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]();
  let next: IteratorResult<Uint8Array, unknown> = await iterator.next();
  response.setHeader("Content-Disposition", attachment(name));
  const body = beginText(response, `${contentType}; charset=utf-8`);
  if (request.method === "HEAD") exchange.abort();
  try {
    while (next.done !== true && !exchange.signal.aborted) {
      await writeChunk(body, next.value, exchange.signal);
      next = await iterator.next();
    }
    body.end();
  } catch (error) {
    if (!exchange.signal.aborted) onFailure(toAppError(error));
    response.destroy();
  } finally {
    exchange.abort();
    await iterator.return?.();
  }
}

/**
 * `Content-Disposition` of a file to save (RFC 6266): the exact name for clients that know
 * `filename*`, and a copy with underscores for others.
 */
function attachment(name: string): string {
  const plain = name.replaceAll(/[^\w .()-]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
