import type { IncomingMessage, ServerResponse } from "node:http";
import { isAppError, toAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import type { ServerEvent } from "../reply.ts";
import { writeChunk } from "./write-chunk.ts";
import { writeJson } from "./write-json.ts";

/** What a stream needs of the request around it. */
export interface EventStreamOptions {
  /** Ends the stream; the client comes again, to whoever serves it then. */
  stopping: AbortSignal;
  /** Aborted when the client goes away; what produces the events ends with it. */
  exchange: AbortController;
  /** Whether the caller would still be let in; rejects when not. */
  readmit: () => Promise<unknown>;
  /** Hears of an error that came too late to be answered. */
  onFailure: (error: AppError) => void;
}

/** Below the minute after which common proxies cut silent connections. */
const HEARTBEAT_MS = 15_000;
/** A revoked key stops working within 5 s (D12), look-up included. */
const READMIT_MS = 4_000;
/** How long clients should wait before they connect again. */
const RECONNECT_MS = 1_000;

/**
 * Answers with server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 * Events are taken only as fast as the client reads. Rejects with what goes wrong before the first
 * one; what goes wrong later ends the stream, and the client's next request tells it why.
 */
export async function sendEvents(
  request: IncomingMessage,
  response: ServerResponse,
  events: AsyncIterable<ServerEvent | null>,
  options: EventStreamOptions,
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]();
  const first: IteratorResult<ServerEvent | null, unknown> = await iterator.next();
  if (first.done === true) {
    response.writeHead(204).end();
    return;
  }
  begin(response);
  const { stopping, exchange } = options;
  const cancel = (): void => exchange.abort();
  const release = supervise(response, options);
  stopping.addEventListener("abort", cancel, { once: true });
  if (stopping.aborted || request.method === "HEAD") cancel();
  try {
    let { value } = first;
    for (;;) {
      if (value !== null) await writeChunk(response, format(value), exchange.signal);
      const next = await iterator.next();
      if (next.done === true) break;
      value = next.value;
    }
  } catch (error) {
    // Of a client that has gone, or that we sent away, there is nothing to tell.
    if (!exchange.signal.aborted) options.onFailure(toAppError(error));
  } finally {
    release();
    stopping.removeEventListener("abort", cancel);
    cancel();
    // Of a client that does not read the stop would wait in vain; it comes again with the last id it has.
    if (stopping.aborted && response.writableNeedDrain) response.destroy();
    else response.end();
  }
}

function begin(response: ServerResponse): void {
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    // Proxies that gather responses would hold events back.
    "X-Accel-Buffering": "no",
  });
  response.write(`retry: ${RECONNECT_MS}\n\n`);
}

/** Keeps the connection alive, and ends the stream of a caller who may not read it any more. */
function supervise(response: ServerResponse, options: EventStreamOptions): () => void {
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(":\n\n");
  }, HEARTBEAT_MS);
  const check = setInterval(() => {
    options.readmit().catch((error: unknown) => {
      const isRefused =
        isAppError(error) && (error.reason === "UNAUTHORIZED" || error.reason === "FORBIDDEN");
      // When it cannot be found out, the next look will tell.
      if (isRefused) options.exchange.abort();
    });
  }, READMIT_MS);
  return () => {
    clearInterval(heartbeat);
    clearInterval(check);
  };
}

/** Documents are passed on as they are, line breaks between their tokens included. */
function format({ event, id, data }: ServerEvent): string {
  const lines = writeJson(data).split(/\r\n|\r|\n/);
  return `event: ${event}\nid: ${id}\n${lines.map((line) => `data: ${line}\n`).join("")}\n`;
}
