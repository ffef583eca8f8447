import { createServer, STATUS_CODES } from "node:http";
import type { RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { AppError } from "@workflow/errors";
import { toErrorBody } from "../errors/error-body.ts";
import { clientNetworkOf } from "./client-network.ts";
import { holdBody } from "./expected-continue.ts";
import { headTooLarge, LONGEST_HEAD_BYTES } from "./head-size.ts";
import { createLingeringClose } from "./lingering-close.ts";
import { LINK_HEADER, newRequestId, requestInfoOf } from "./request-info.ts";

/** A listening HTTP server. */
export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /** Stops accepting, lets what is under way end for `graceMs`, then cuts the rest off. */
  close(graceMs: number): Promise<void>;
}

/** How long the whole of a request may take to arrive. */
const REQUEST_TIMEOUT_MS = 120_000;
const HEADERS_TIMEOUT_MS = 30_000;
/** Above the 60 s after which common load balancers drop idle connections: they should close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** What refused clients may still send. Of those that are too many the connection is cut at once. */
const LINGERING = {
  bytesMax: 64 * 1024 * 1024,
  connectionsMaxEach: 32,
  connectionsMax: 512,
};

const LINGERING_MS = 10_000;

/** Where to listen, and for whom. */
export interface ListenOptions {
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** Connections that are kept at the same time; further ones are cut. */
  connectionsMax: number;
  /** How long a client that was refused may go on sending, in milliseconds; 10,000 by default. */
  lingeringMs?: number | undefined;
}

/** Listens on a host and port. Rejects when the address is taken. */
export function listenHttp(
  app: RequestListener,
  { host, port, connectionsMax, lingeringMs = LINGERING_MS }: ListenOptions,
): Promise<HttpServer> {
  let isClosing = false;
  const answering = new Map<Socket, ServerResponse>();
  const lingering = createLingeringClose({
    ...LINGERING,
    durationMs: lingeringMs,
    clientOf: (request) => clientNetworkOf(requestInfoOf(request).client.ipAddress),
  });
  const listener: RequestListener = (request, response) => {
    if (isClosing) response.shouldKeepAlive = false;
    answering.set(request.socket, response);
    response.once("close", () => {
      if (answering.get(request.socket) === response) answering.delete(request.socket);
    });
    lingering.guard(request, response);
    app(request, response);
  };
  const server = createServer(
    {
      maxHeaderSize: LONGEST_HEAD_BYTES,
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // Node would answer these by itself, without our envelope; the app does it.
      requireHostHeader: false,
    },
    listener,
  );
  server.maxConnections = connectionsMax;
  server.on("checkExpectation", listener);
  // Node by itself would ask for each body, those that are then refused included.
  server.on("checkContinue", (request, response) => {
    holdBody(request, response);
    listener(request, response);
  });
  allowHalfClose(server, answering);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (lingering.has(socket)) return;
    const response = answering.get(socket);
    if (response !== undefined && error.code === ENDED_EARLY && socket.writable) {
      // Who reads the body says so; else an answer is on its way already.
      response.shouldKeepAlive = false;
      return;
    }
    if (response !== undefined || !socket.writable || error.code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    answerUnreadable(error.code, socket);
    lingering.close(socket, clientNetworkOf(socket.remoteAddress));
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
          lingering.stop();
          return closeServer(server, graceMs);
        },
      });
    });
  });
}

/**
 * Lets clients end their side before they are answered, as Node does with a switch that it has no
 * words for. Of a read it means that nobody waits for the answer any more; routes that end with their client
 * (`endsWithClient`) see to it themselves.
 */
function allowHalfClose(server: Server, answering: ReadonlyMap<Socket, ServerResponse>): void {
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("connection", (socket: Socket) => {
    socket.on("end", () => {
      const method = answering.get(socket)?.req.method;
      if (method === "GET" || method === "HEAD") socket.destroy();
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
  const body = JSON.stringify({ success: false, error: toErrorBody(explain(status), requestId) });
  socket.write(
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
}

/** What Node calls a connection whose other side ends within a request. */
const ENDED_EARLY = "HPE_INVALID_EOF_STATE";

const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

function explain(status: number): AppError {
  if (status === 431) return headTooLarge();
  const isLate = status === 408;
  return new AppError(
    "BAD_REQUEST",
    isLate ? "The request did not arrive in time." : "The request is not valid HTTP.",
  );
}
