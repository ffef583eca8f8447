import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { AppError, toAppError } from "@workflow/errors";
import { httpsConnectOptions } from "@workflow/rpc";
import type { HttpTls } from "@workflow/rpc";
import { inTurn, parseReplicaAddresses, ReplicaAgent } from "@workflow/service";
import { createProxyMiddleware } from "http-proxy-middleware";
import type { Plugin } from "http-proxy-middleware";
import { requestInfoOf } from "../http/request-info.ts";
import { sendJsonText } from "../http/respond.ts";
import { sendPlainError } from "./plain-error.ts";

export interface InboundProxyOptions {
  /** `host:port` of the webhooks service; several replicas are separated by commas. */
  address: string;
  tls: HttpTls | undefined;
  /** The path of the routes, the same at the service. */
  base: string;
  /** The limit of a body, in bytes. */
  bytesMax: number;
  /** The time limit of a request, from its forwarding to the service's answer. */
  timeoutMs: number;
}

/** Forwards requests to the webhooks service, their bodies as they arrive. */
export interface InboundProxy {
  /** Answers the request in every case: with the service's answer, or with `{error}`. */
  forward(request: IncomingMessage, response: ServerResponse): void;
  /** Closes the connections. */
  close(): void;
}

/** One forwarded request, until it is answered or its sender has left. */
interface Exchange {
  /** Connects it with the request to the service. */
  begin(upstream: ClientRequest): void;
  /**
   * Passes on the service's answer. When that breaks off, the sender's connection is cut, so that
   * half an answer never looks complete.
   */
  answer(upstreamAnswer: IncomingMessage): void;
  /** Ends it with an error, unless it is over. */
  fail(error: AppError, status?: number): void;
}

/**
 * Shorter than the time after which Node servers close idle connections, and than STOP_DELAY_MS: a
 * request on a closing connection would be lost.
 */
const IDLE_MS = 1_000;
/** The limit of the service's answer, which is a few words. */
const ANSWER_CHARS_MAX = 64 * 1024;

/** @see InboundProxy */
export function createInboundProxy(options: InboundProxyOptions): InboundProxy {
  const { tls } = options;
  const agent = new ReplicaAgent({
    order: inTurn(parseReplicaAddresses(options.address)),
    tls: tls === undefined ? undefined : () => httpsConnectOptions(tls),
    keepAlive: true,
    maxFreeSockets: 256,
    timeout: IDLE_MS,
  });
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const listen: Plugin = (proxy) => {
    proxy.on("proxyReq", (upstream, request) => exchanges.get(request)?.begin(upstream));
    proxy.on("proxyRes", (answer, request) => {
      if (answer.headers.connection === "close") agent.avoid(answer.socket);
      exchanges.get(request)?.answer(answer);
    });
    proxy.on("error", (error, request) => {
      if (request !== undefined) exchanges.get(request)?.fail(explain(error, request));
    });
  };
  const proxy = createProxyMiddleware({
    // The agent chooses the replica.
    target: { protocol: "http:", host: "webhooks", port: 80, pathname: options.base },
    agent,
    selfHandleResponse: true,
    ejectPlugins: true,
    plugins: [listen],
  });
  return {
    forward(request, response) {
      const exchange = openExchange(request, response, options);
      exchanges.set(request, exchange);
      const onSkipped = (error?: unknown): void =>
        exchange.fail(
          error === undefined ? new AppError("NOT_FOUND", "Not found") : toAppError(error),
        );
      proxy(request, response, onSkipped).catch(onSkipped);
    },
    close: () => agent.destroy(),
  };
}

function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { bytesMax, timeoutMs }: InboundProxyOptions,
): Exchange {
  const { socket } = request;
  let upstream: ClientRequest | undefined;
  let isOver = false;
  let byteCount = 0;

  const end = (): boolean => {
    if (isOver) return false;
    isOver = true;
    clearTimeout(timer);
    request.off("data", count);
    socket.off("end", onHalfClosed);
    return true;
  };
  const fail = (error: AppError, status?: number): void => {
    if (!end()) return;
    if (upstream !== undefined) request.unpipe(upstream);
    request.pause();
    upstream?.destroy();
    sendPlainError(response, requestInfoOf(request), error, status);
  };
  const count = (chunk: Buffer): void => {
    byteCount += chunk.length;
    if (byteCount <= bytesMax) return;
    fail(new AppError("PAYLOAD_TOO_LARGE", `The request body must be at most ${bytesMax} bytes.`));
  };
  // A client that sends no more may still read why its body was too short.
  const onHalfClosed = (): void => {
    if (!request.complete) fail(endedEarly());
  };
  const timer = setTimeout(() => {
    if (request.complete) fail(unavailable("did not answer in time"), 504);
    else fail(new AppError("BAD_REQUEST", "The request did not arrive in time."), 408);
  }, timeoutMs);
  response.once("close", end);
  socket.on("end", onHalfClosed);
  if (socket.readableEnded) onHalfClosed();

  return {
    begin(request_) {
      upstream = request_;
      if (isOver) upstream.destroy();
      else request.on("data", count);
    },
    answer(upstreamAnswer) {
      const onTooMuch = (): void => fail(unavailable("answered too much"));
      readText(upstreamAnswer, onTooMuch, (text) => {
        if (end()) passOn(upstreamAnswer, text, response);
      });
    },
    fail,
  };
}

/** Reads the service's whole answer. `onTooMuch` may be called repeatedly. */
function readText(
  upstreamAnswer: IncomingMessage,
  onTooMuch: () => void,
  onEnd: (text: string) => void,
): void {
  let text = "";
  upstreamAnswer.setEncoding("utf8");
  upstreamAnswer.on("data", (chunk: string) => {
    text += chunk;
    if (text.length > ANSWER_CHARS_MAX) onTooMuch();
  });
  upstreamAnswer.once("end", () => onEnd(text));
}

/** The service's headers that are about the answer. */
function passOn(
  { statusCode = 500, headers }: IncomingMessage,
  text: string,
  response: ServerResponse,
): void {
  if (headers["retry-after"] !== undefined) {
    response.setHeader("Retry-After", headers["retry-after"]);
  }
  if (headers.allow !== undefined) response.setHeader("Allow", headers.allow);
  sendJsonText(response, statusCode, text);
}

function explain(error: Error, request: IncomingMessage): AppError {
  // Both ends report the same event; a break by the sender is no fault of the service.
  if (request.errored !== null || (request.destroyed && !request.complete)) return endedEarly();
  return unavailable("cannot be reached", error);
}

function endedEarly(): AppError {
  return new AppError("BAD_REQUEST", "The request body ended early.");
}

function unavailable(what: string, cause?: Error): AppError {
  return new AppError("UNAVAILABLE", `The webhooks service ${what}. Send the event again.`, {
    cause,
  });
}
