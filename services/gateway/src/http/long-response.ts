import type { IncomingMessage, ServerResponse } from "node:http";
import { toAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import type { LongReply } from "../reply.ts";
import { tagOfText } from "./entity-tags.ts";
import { beginText, sendTagged } from "./respond.ts";
import { writeChunk } from "./write-chunk.ts";

/** What a long answer needs from its request. */
interface LongOptions {
  /** Aborted when the client leaves; the source of the answer stops with it. */
  exchange: AbortController;
  /** Receives an error that came too late for an answer. */
  onFailure: (error: AppError) => void;
  /** Whether the answer is one object, which readers may have in their caches. */
  isTagged: boolean;
}

/** A shorter answer goes out in one piece, like every other answer. */
const PIECE_CHARS_MAX = 256 * 1024;

/**
 * Answers with the success envelope as fast as the client reads it. It rejects with an error that
 * comes before the first piece. A later error cuts the connection, so that half an answer never
 * looks complete.
 */
export async function sendLongData(
  request: IncomingMessage,
  response: ServerResponse,
  data: LongReply["longData"],
  { exchange, onFailure, isTagged }: LongOptions,
): Promise<void> {
  const pieces = data[Symbol.asyncIterator]();
  const { signal } = exchange;
  try {
    let text = '{"success":true,"data":';
    let next: IteratorResult<string, unknown> = await pieces.next();
    while (next.done !== true && text.length < PIECE_CHARS_MAX) {
      text += next.value;
      next = await pieces.next();
    }
    if (next.done === true) {
      text += "}";
      const etag = isTagged ? tagOfText(text) : undefined;
      return sendTagged(request, response, { status: 200, text, etag });
    }
    const body = beginText(response, "application/json; charset=utf-8");
    if (request.method === "HEAD") exchange.abort();
    while (next.done !== true && !signal.aborted) {
      await writeChunk(body, text, signal);
      text = next.value;
      next = await pieces.next();
    }
    body.end(`${text}}`);
  } catch (error) {
    if (!response.headersSent) throw error;
    if (!signal.aborted) onFailure(toAppError(error));
    response.destroy();
  } finally {
    exchange.abort();
    await pieces.return?.();
  }
}
