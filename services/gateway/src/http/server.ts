import { createServer } from "node:http";
import type { RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { toAppError } from "@workflow/errors";
import { clientNetworkOf } from "./client-network.ts";
import { Connections } from "./connections.ts";
import { holdBody } from "./expected-continue.ts";
import { LONGEST_HEAD_BYTES } from "./head-size.ts";
import { answerOn } from "./answering.ts";
import { createLingeringClose } from "./lingering-close.ts";
import type { LingeringClose } from "./lingering-close.ts";
import { createPeerConnections } from "./peer-connections.ts";
import { requestInfoOf } from "./request-info.ts";
import type { RequestSettings } from "./request-info.ts";
import { answerUnread, answerUnreadable, LATE } from "./unreadable.ts";
import type { ParserError } from "./unreadable.ts";

/** A listening HTTP server. */
export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /** From now on each answer announces that its connection closes. */
  leave(): void;
  /**
   * Stops accepting, lets current requests finish for `graceMs`, then cuts the rest; see
   * `Connections.close`.
   */
  close(graceMs: number): Promise<void>;
}

/** Time limits for clients, in milliseconds. */
export interface ClientTimeouts {
  /** For the head of a request, from the connection or from the end of the previous answer. */
  readonly headMs: number;
  /** For a whole request. */
  readonly requestMs: number;
  /** For a client that reads nothing of its answer. */
  readonly unreadMs: number;
}

const TIMEOUTS: ClientTimeouts = { headMs: 20_000, requestMs: 120_000, unreadMs: 60_000 };
/** The interval at which Node looks for late requests. */
const LATE_CHECKS_MS = 5_000;
/**
 * Longer than the 60 s after which common load balancers drop idle connections, so that they close
 * first.
 */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/**
 * The bytes that a refused client may still send. Beyond the limit of such connections, each
 * further one is cut at once.
 */
const LINGERING = {
  bytesMax: 64 * 1024 * 1024,
  connectionsMaxEach: 32,
  connectionsMax: 512,
};

const LINGERING_MS = 10_000;

/** The address to listen on, and the limits of clients. */
export interface ListenOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** The number of open connections; further ones are cut. One network has at most half of them. */
  connectionsMax: number;
  requests: RequestSettings;
  /** The time that a refused client may go on sending, in milliseconds; 10,000 by default. */
  lingeringMs?: number | undefined;
  timeouts?: Partial<ClientTimeouts> | undefined;
}

/** Listens on a host and a port. Rejects when the address is taken. */
export function listenHttp(app: RequestListener, options: ListenOptions): Promise<HttpServer> {
  const { host, port, requests, lingeringMs = LINGERING_MS } = options;
  const lingering = createLingeringClose({
    ...LINGERING,
    durationMs: lingeringMs,
    clientOf: (request) => clientNetworkOf(requestInfoOf(request).client.ipAddress),
  });
  const listener: RequestListener = (request, response) => {
    connections.begin(request, response);
    lingering.guard(request, response);
    app(request, response);
  };
  const server = createHttpServer(listener, options);
  const connections = new Connections(server, requests.answerHeaders);
  limitPeers(server, lingering, options);
  allowHalfClose(server);
  explainUnreadable(server, lingering, requests);
  cutUnread(server, options);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve({
        host,
        port: portOf(server),
        leave: () => connections.leave(),
        close: (graceMs) => {
          lingering.stop();
          return connections.close(graceMs);
        },
      });
    });
  });
}

function createHttpServer(listener: RequestListener, options: ListenOptions): Server {
  const { headMs, requestMs } = { ...TIMEOUTS, ...options.timeouts };
  const server = createServer(
    {
      maxHeaderSize: LONGEST_HEAD_BYTES,
      requestTimeout: requestMs,
      headersTimeout: headMs,
      connectionsCheckingInterval: Math.min(LATE_CHECKS_MS, headMs),
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // Node would answer these by itself, without the error envelope.
      requireHostHeader: false,
    },
    listener,
  );
  server.maxConnections = options.connectionsMax;
  server.on("checkExpectation", listener);
  // By itself Node would request each body, even one that is refused then.
  server.on("checkContinue", (request, response) => {
    holdBody(request, response);
    listener(request, response);
  });
  return server;
}

/** Refuses networks that have their share of connections, without reading what they send. */
function limitPeers(
  server: Server,
  lingering: LingeringClose,
  { connectionsMax, requests }: ListenOptions,
): void {
  const peers = createPeerConnections(connectionsMax, requests.proxies);
  server.on("connection", (socket: Socket) => {
    try {
      peers.claim(socket);
    } catch (refusal) {
      answerUnread(toAppError(refusal), socket, requests.answerHeaders);
      lingering.close(socket, clientNetworkOf(socket.remoteAddress));
    }
  });
}

/**
 * Allows clients to end their side before they are answered; Node has no public option for it. For
 * a read it means that nobody waits for the answer. Routes that end with their client
 * (`endsWithClient`) handle it themselves.
 */
function allowHalfClose(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("connection", (socket: Socket) => {
    socket.on("end", () => {
      const method = answerOn(socket)?.req.method;
      if (method === "GET" || method === "HEAD") socket.destroy();
    });
  });
}

function explainUnreadable(
  server: Server,
  lingering: LingeringClose,
  { answerHeaders }: RequestSettings,
): void {
  server.on("clientError", (error: ParserError, socket: Socket) => {
    if (lingering.has(socket)) return;
    const response = answerOn(socket);
    if (response !== undefined && error.code === ENDED_EARLY && socket.writable) {
      // The reader of the body reports a stop; without a reader an answer is under way already.
      response.shouldKeepAlive = false;
      return;
    }
    const isAnswered = response !== undefined && !isLateBody(error, response);
    if (isAnswered || !socket.writable || error.code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    if (response !== undefined) response.statusCode = 408;
    answerUnreadable(error, socket, answerHeaders, response?.req.url);
    lingering.close(socket, clientNetworkOf(socket.remoteAddress));
  });
}

/** Whether only the body is late, and no earlier answer occupies the connection. */
function isLateBody({ code }: ParserError, response: ServerResponse): boolean {
  return code === LATE && !response.headersSent && response.socket !== null;
}

/** The error code that Node gives a connection whose other side ends within a request. */
const ENDED_EARLY = "HPE_INVALID_EOF_STATE";

/**
 * Cuts clients that read nothing of their answers, which occupy memory until then. Node counts a
 * partial write as activity, so a slow client goes on. The same timer closes idle connections.
 */
function cutUnread(server: Server, { timeouts }: ListenOptions): void {
  const { unreadMs } = { ...TIMEOUTS, ...timeouts };
  server.setTimeout(unreadMs, (socket) => {
    const response = answerOn(socket);
    // Nothing waits to be sent, so the delay is the gateway's own.
    if (response === undefined || socket.writableLength > 0) socket.destroy();
    // Node fires the timer once; the next answer restarts it.
    else socket.setTimeout(unreadMs);
  });
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address.port;
}
