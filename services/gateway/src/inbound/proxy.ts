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
  /** `host:port` of the webhooks service; of several replicas, with commas between them. */
  address: string;
  tls: HttpTls | undefined;
  /** Where the routes are mounted, there as here. */
  base: string;
  /** What a body may have. */
  bytesMax: number;
  /** How long a request may take, from its forwarding to the service's answer. */
  timeoutMs: number;
}

/** Hands requests on to the webhooks service, their bodies byte by byte as they come. */
export interface InboundProxy {
  /** Answers the request, whatever happens: with what the service answers, or with `{error}`. */
  forward(request: IncomingMessage, response: ServerResponse): void;
  /** Gives the connections back. */
  close(): void;
}

/** One request on its way, until it is answered or its sender is gone. */
interface Exchange {
  /** Connects it with the request to the service. */
  begin(upstream: ClientRequest): void;
  /** Passes on what the service says. One that breaks off cuts the sender's connection: half an answer is none. */
  answer(upstreamAnswer: IncomingMessage): void;
  /** Ends it with an error, unless it is over. */
  fail(error: AppError, status?: number): void;
}

/**
 * Below the time after which Node servers close idle connections, and below STOP_DELAY_MS: a request on one
 * that is being closed would be lost.
 */
const IDLE_MS = 1_000;
/** The service answers in a few words. */
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
    // Which replica it is, the agent says.
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
  // Whoever sends no more may still want to read why that was too little.
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
      let text = "";
      upstreamAnswer.setEncoding("utf8");
      upstreamAnswer.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > ANSWER_CHARS_MAX) fail(unavailable("answered too much"));
      });
      upstreamAnswer.once("end", () => {
        if (end()) passOn(upstreamAnswer, text, response);
      });
    },
    fail,
  };
}

/** Of its headers those that are about the answer. */
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
  // Both ends report by the same event; the sender's own breaks are no fault of the service.
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
