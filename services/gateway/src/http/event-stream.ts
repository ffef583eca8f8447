import type { IncomingMessage, ServerResponse } from "node:http";
import { isAppError, toAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import type { ServerEvent } from "../reply.ts";
import { writeChunk } from "./write-chunk.ts";
import { writeJson } from "./write-json.ts";

/** What a stream needs from its request. */
export interface EventStreamOptions {
  /** Ends the stream when the gateway stops; the client reconnects to another one. */
  stopping: AbortSignal;
  /** Aborted when the client leaves; the source of the events stops with it. */
  exchange: AbortController;
  /** Whether the caller would still be admitted; rejects when not. */
  readmit: () => Promise<unknown>;
  /** Receives an error that came too late for an answer. */
  onFailure: (error: AppError) => void;
}

/** Less than the minute after which common proxies cut silent connections. */
const HEARTBEAT_MS = 15_000;
/** A revoked key stops working within 5 s (D12), the lookup included. */
const READMIT_MS = 4_000;
/** The time that clients wait before they reconnect. */
const RECONNECT_MS = 1_000;

/**
 * Answers with server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 * It takes events only as fast as the client reads. It rejects with an error that comes before the
 * first event. A later error ends the stream, and the client's next request gets it as its answer.
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
    // A client that has left, or that the gateway sent away, needs no report.
    if (!exchange.signal.aborted) options.onFailure(toAppError(error));
  } finally {
    release();
    stopping.removeEventListener("abort", cancel);
    cancel();
    // A stop does not wait for a client that reads nothing; the client resumes from its last event
    // id.
    if (stopping.aborted && response.writableNeedDrain) response.destroy();
    else response.end();
  }
}

function begin(response: ServerResponse): void {
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    // Some proxies buffer responses and would hold events back.
    "X-Accel-Buffering": "no",
  });
  response.write(`retry: ${RECONNECT_MS}\n\n`);
}

/** Sends keep-alive comments, and ends the stream of a caller who lost access. */
function supervise(response: ServerResponse, options: EventStreamOptions): () => void {
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(":\n\n");
  }, HEARTBEAT_MS);
  const check = setInterval(() => {
    options.readmit().catch((error: unknown) => {
      const isRefused =
        isAppError(error) && (error.reason === "UNAUTHORIZED" || error.reason === "FORBIDDEN");
      // A check that fails proves nothing; the next one decides.
      if (isRefused) options.exchange.abort();
    });
  }, READMIT_MS);
  return () => {
    clearInterval(heartbeat);
    clearInterval(check);
  };
}

/** Documents are passed on unchanged, line breaks between their tokens included. */
function format({ event, id, data }: ServerEvent): string {
  const lines = writeJson(data).split(/\r\n|\r|\n/);
  return `event: ${event}\nid: ${id}\n${lines.map((line) => `data: ${line}\n`).join("")}\n`;
}
