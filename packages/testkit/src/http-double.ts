import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { isNativeError } from "node:util/types";

export interface RecordedRequest {
  method: string;
  /** The path with its query, as received. */
  path: string;
  headers: IncomingHttpHeaders;
  /** The body's bytes as UTF-8 text. */
  body: string;
  bodyBytes: Buffer;
  /** The header `Idempotency-Key`, or null. */
  idempotencyKey: string | null;
  receivedAt: Date;
}

export interface DoubleResponse {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string>;
  /** A text or bytes are sent unchanged, other values as JSON; absent means an empty body. */
  body?: unknown;
}

export interface HttpDouble {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  url: string;
  port: number;
  /** All requests, in the order in which their bodies were complete. */
  requests: RecordedRequest[];
  /** The number of requests with this Idempotency-Key. */
  countByKey(idempotencyKey: string): number;
  /** Requests per Idempotency-Key. */
  keyCounts(): Map<string, number>;
  close(): Promise<void>;
}

/**
 * Answers a request: by its result, or by writing to the response itself in order to break off, stall
 * or stream.
 */
export type DoubleHandler = (
  request: RecordedRequest,
  response: ServerResponse,
) => DoubleResponse | void | Promise<DoubleResponse | void>;

/**
 * Starts an HTTP server that plays an external host, on 127.0.0.1 by default. Without a handler it
 * answers 200.
 */
export async function startHttpDouble(
  handler: DoubleHandler = () => ({}),
  host = "127.0.0.1",
): Promise<HttpDouble> {
  const requests: RecordedRequest[] = [];
  const server = createServer((incoming, response) => {
    answer(incoming, response, handler, requests).catch((error: unknown) => {
      // The handler failed, or the caller hung up. The caller sees a broken connection.
      response.destroy(isNativeError(error) ? error : undefined);
    });
  });
  server.listen(0, host);
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server has no port.");
  const keyCounts = (): Map<string, number> => countKeys(requests);
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    requests,
    countByKey: (key) => keyCounts().get(key) ?? 0,
    keyCounts,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  handler: DoubleHandler,
  requests: RecordedRequest[],
): Promise<void> {
  const request = await record(incoming);
  requests.push(request);
  const reply = await handler(request, response);
  if (reply === undefined) return;
  const { status = 200, headers = {}, body } = reply;
  const raw = body === undefined || typeof body === "string" || Buffer.isBuffer(body);
  response.writeHead(status, raw ? headers : { "content-type": "application/json", ...headers });
  response.end(raw ? body : JSON.stringify(body));
}

async function record(incoming: IncomingMessage): Promise<RecordedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const bodyBytes = Buffer.concat(chunks);
  const key = incoming.headers["idempotency-key"];
  return {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers: incoming.headers,
    body: bodyBytes.toString("utf8"),
    bodyBytes,
    idempotencyKey: typeof key === "string" ? key : null,
    receivedAt: new Date(),
  };
}

function countKeys(requests: RecordedRequest[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { idempotencyKey } of requests) {
    if (idempotencyKey !== null) counts.set(idempotencyKey, (counts.get(idempotencyKey) ?? 0) + 1);
  }
  return counts;
}
