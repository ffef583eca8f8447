import { createServer, STATUS_CODES } from "node:http";
import type { RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { AppError } from "@workflow/errors";
import { toErrorBody } from "../errors/error-body.ts";
import { LINK_HEADER, newRequestId } from "./request-info.ts";

/** A listening HTTP server. */
export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /** Stops accepting, lets what is under way end for `graceMs`, then cuts the rest off. */
  close(graceMs: number): Promise<void>;
}

/**
 * Of the request line and the headers. A filter of 50,000 characters, percent-encoded in a query string,
 * takes up to three times as many.
 */
const HEADER_BYTES_MAX = 192 * 1024;
/** How long the whole of a request may take to arrive. */
const REQUEST_TIMEOUT_MS = 120_000;
const HEADERS_TIMEOUT_MS = 30_000;
/** Above the 60 s after which common load balancers drop idle connections: they should close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** For a client to read the answer before the connection is cut. */
const LINGER_MS = 1_000;

/** Listens on a host and port (0 picks a free one). Rejects when the address is taken. */
export function listenHttp(app: RequestListener, host: string, port: number): Promise<HttpServer> {
  let isClosing = false;
  const answering = new Map<Socket, ServerResponse>();
  const listener: RequestListener = (request, response) => {
    if (isClosing) response.shouldKeepAlive = false;
    answering.set(request.socket, response);
    response.once("close", () => {
      if (answering.get(request.socket) === response) answering.delete(request.socket);
    });
    app(request, response);
  };
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // Node would answer these by itself, without our envelope; the app does it.
      requireHostHeader: false,
    },
    listener,
  );
  server.on("checkExpectation", listener);
  const refused = new WeakSet<Socket>();
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // What a refused client goes on sending fails to parse again.
    if (refused.has(socket)) return;
    if (answering.has(socket) || !socket.writable || error.code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    refused.add(socket);
    answerUnreadable(error.code, socket);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve({
        host,
        port: portOf(server),
        close: (graceMs) => {
          isClosing = true;
          // Their connections would otherwise stay open for the next request.
          for (const response of answering.values()) response.shouldKeepAlive = false;
          return closeServer(server, graceMs);
        },
      });
    });
  });
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address.port;
}

/** Answers what is no readable HTTP request in the envelope of all other errors. */
function answerUnreadable(code: string | undefined, socket: Socket): void {
  const status = STATUS_BY_CODE[code ?? ""] ?? 400;
  const requestId = newRequestId();
  const message = MESSAGES[status] ?? "The request is not valid HTTP.";
  const body = JSON.stringify({
    success: false,
    error: toErrorBody(new AppError("BAD_REQUEST", message), requestId),
  });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
      "Connection: close",
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Cache-Control: no-store",
      `Link: ${LINK_HEADER}`,
      `X-Request-Id: ${requestId}`,
      "",
      body,
    ].join("\r\n"),
  );
  // Data that is never read would make the system reset the connection, and the answer with it.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const MESSAGES: Readonly<Record<number, string>> = {
  408: "The request did not arrive in time.",
  431: "The request's headers are too large.",
};
